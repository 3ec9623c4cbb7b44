import ArgumentParser
import Satchel
import Synchronization

/// `satchel store recover`: reads what can be read of a damaged store.
struct StoreRecover: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Read what can be read of a damaged store into a new one.",
    discussion: """
      The damaged file stays as it is. For each table: rows that were saved, rows that are known to be lost, and \
      pages that are destroyed; how many rows were on them is not known. What is missing may be in a backup, a \
      mirror ("records import"), or with the master copy.

        satchel store recover damaged.satchel new.satchel

      Exit codes: 0 all is saved; 1 something is lost; 2 could not run, and there is no new store.
      """)

  @Argument(help: "The damaged store's file; no app may have it open.", completion: .file())
  var damaged: String

  @Argument(help: "The new store's file; must not exist.", completion: .file())
  var new: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func run() throws {
    Interruption.listen()
    let report = try recover()
    let output = try Output()
    try output.put(json ? report.json.plainText + "\n" : Self.text(report))
    try output.finish()
    if SpillFile(store: damaged).isPending {
      Terminal.complain(
        "\(damaged.printable).spill: holds changes that are not in the new store; as \(new.printable).spill beside "
          + "it, the next app that opens it takes them in")
    }
    if !report.isComplete { throw Terminal.attention }
  }

  private func recover() throws -> RecoveryReport {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      return try Satchel.recover(damaged, into: new) { done, total in
        bar.withLock { $0.show(done, of: total, note: "tables") }
        return !Interruption.isWanted
      }
    } catch let error as SatchelError where error.code == .cancelled {
      Terminal.complain("interrupted: no store was made")
      Interruption.obey()
      throw error
    }
  }

  private static func text(_ report: RecoveryReport) -> String {
    // Empty tables that lost nothing are no news.
    let tables = report.tables.filter { $0.rows > 0 || $0.lostRows > 0 || $0.lostPages > 0 }
    var rows = [["rows", "lost", "pages lost", "table"]]
    for table in tables {
      rows.append(["\(table.rows)", "\(table.lostRows)", "\(table.lostPages)", table.name.printable])
    }
    var text = Terminal.figures(rows) + "\n\n"
    if report.isHeaderLost { text += "the file's header was destroyed, and is made anew\n" }
    if report.isSchemaLost { text += "the list of tables was destroyed; they were told by their shape\n" }
    for table in report.unknownTables {
      text += "not known, and only in the damaged file: \(table.printable)\n"
    }
    let saved = Terminal.count(report.tables.reduce(0) { $0 + $1.rows }, "row")
    return text
      + "\(report.path.printable): \(saved) saved, \(report.isComplete ? "nothing" : "something") lost\n"
  }
}
