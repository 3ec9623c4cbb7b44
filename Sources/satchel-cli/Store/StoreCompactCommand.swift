import ArgumentParser
import Satchel
import Synchronization

/// `satchel store compact`: makes a store's file smaller.
struct StoreCompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Return the unused pages of the file to the file system, while apps use it.",
    discussion: """
      Deleting leaves unused pages in the file, which "satchel store stats" shows. Works in steps of 1 MB, between which apps can write.

        satchel store compact guide.satchel

      Ctrl-C stops it; the next run continues.

      Exit codes: 0 compacted; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func run() throws {
    Interruption.installHandlers()
    let report = try compact()
    if arguments.json { return try Terminal.print(json: report.json) }
    print("\(arguments.store.printable): \(Terminal.bytes(report.fileBytes)), \(report.bytes) bytes less")
  }

  private func compact() throws -> CompactReport {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      let store = try arguments.open(writing: true)
      let report = try store.compact { done, total in
        bar.withLock { $0.show(done, of: total, note: "pages") }
        return !Interruption.isRequested
      }
      try store.close()
      return report
    } catch let error as SatchelError where error.code == .cancelled {
      Terminal.printError("interrupted: the next run continues")
      Interruption.raiseSignal()
      throw error
    }
  }
}
