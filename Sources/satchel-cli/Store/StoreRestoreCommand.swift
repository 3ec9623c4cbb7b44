import ArgumentParser
import Satchel

/// `satchel store restore`: replaces a store with a backup.
struct StoreRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Replace a store with a backup.",
    discussion: """
      The backup is checked first and is not changed. An existing store is renamed, never deleted; it must \
      not be open in any app.

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
    let quarantinePath = try Store.restore(backup, to: store)
    let output = try Output()
    if json {
      try output.put(
        JSONValue.object(["quarantined": quarantinePath.map { .string($0) } ?? .null]).plainText + "\n")
    } else {
      try output.put("\(store.printable): restored\n")
      if let quarantinePath {
        try output.put("the previous store was renamed to \(quarantinePath.printable)\n")
      }
    }
    try output.finish()
    if OutboxFile(store: store).isPending {
      Terminal.printError(
        "\(store.printable).outbox: contains changes of the previous store; the next app that opens the "
          + "store for writing applies them")
    }
  }
}
