import ArgumentParser
import Satchel
import Synchronization

/// `satchel store recover`: copies the readable data of a damaged store to a new store.
struct StoreRecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Copy the readable data of a damaged store into a new store.",
    discussion: """
      The damaged file is not changed. Shows for each table the recovered rows, the rows known to be lost, \
      and the damaged pages, whose number of rows is unknown. Lost data may be in a backup, a mirror file \
      ("records import"), or on the remote.

        satchel store recover damaged.satchel new.satchel

      Exit codes: 0 all data was recovered; 1 some data is lost; 2 could not run, and there is no new store.
      """)

  @Argument(help: "The damaged store's file; must not be open in any app.", completion: .file())
  var damaged: String

  @Argument(help: "The new store's file; must not exist.", completion: .file())
  var new: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func run() throws {
    Interruption.installHandlers()
    let report = try recover()
    let output = try Output()
    try output.put(json ? report.json.plainText + "\n" : Self.text(report))
    try output.finish()
    if OutboxFile(store: damaged).isPending {
      Terminal.printError(
        "\(damaged.printable).outbox: contains changes that are not in the new store; rename it to "
          + "\(new.printable).outbox, and the next app that opens the new store applies them")
    }
    if !report.isComplete { throw Terminal.attention }
  }

  private func recover() throws -> RecoveryReport {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      return try Store.recover(damaged, into: new) { done, total in
        bar.withLock { $0.show(done, of: total, note: "tables") }
        return !Interruption.isRequested
      }
    } catch let error as SatchelError where error.code == .cancelled {
      Terminal.printError("interrupted: no store was created")
      Interruption.raiseSignal()
      throw error
    }
  }

  private static func text(_ report: RecoveryReport) -> String {
    // Empty tables without losses are omitted.
    let tables = report.tables.filter { $0.rows > 0 || $0.lostRows > 0 || $0.lostPages > 0 }
    var rows = [["rows", "lost", "pages lost", "table"]]
    for table in tables {
      rows.append(["\(table.rows)", "\(table.lostRows)", "\(table.lostPages)", table.name.printable])
    }
    var text = Terminal.numericTable(rows) + "\n\n"
    if report.isHeaderLost { text += "the file's header was damaged and was rebuilt\n" }
    if report.isSchemaLost {
      text += "sqlite_schema is unreadable; tables were identified from their page layout\n"
    }
    for table in report.unknownTables {
      text += "unknown table, not recovered: \(table.printable)\n"
    }
    let recovered = Terminal.count(report.tables.reduce(0) { $0 + $1.rows }, "row")
    return text
      + "\(report.path.printable): \(recovered) recovered, \(report.isComplete ? "no" : "some") data lost\n"
  }
}
