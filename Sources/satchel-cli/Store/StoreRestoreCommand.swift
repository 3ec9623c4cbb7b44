import ArgumentParser
import Satchel

/// `satchel store restore`: puts a backup in the place of a store.
struct StoreRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put a backup in the place of a store.",
    discussion: """
      The backup is examined first, and stays. A store that is there is renamed, never deleted; no app may have it \
      open.

        satchel store restore backups/planner-20270305T101500000Z.satchel planner.satchel

      Exit codes: 0 restored; 2 could not run, and nothing was changed.
      """)

  @Argument(help: "The backup's file.", completion: .file())
  var backup: String

  @Argument(help: "The store's file; need not exist.", completion: .file())
  var store: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func run() throws {
    let setAside = try Satchel.restore(backup, to: store)
    let output = try Output()
    if json {
      try output.put(JSONValue.object(["set_aside": setAside.map { .string($0) } ?? .null]).plainText + "\n")
    } else {
      try output.put("\(store.printable): restored\n")
      if let setAside { try output.put("what was there is now \(setAside.printable)\n") }
    }
    try output.finish()
    if SpillFile(store: store).isPending {
      Terminal.complain(
        "\(store.printable).spill: holds changes of the store that was there; the next app that opens the store to "
          + "write takes them in")
    }
  }
}
