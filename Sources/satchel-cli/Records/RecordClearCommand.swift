import ArgumentParser
import Satchel

/// `satchel records clear`: deletes all records of a collection.
struct RecordClearCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Delete all records of a collection, here and for all devices.",
    discussion: """
      One transaction deletes the records, and what their relations delete with them. The collection and its \
      declaration stay. The next sync deletes the records on the remote; "drop" does not.

        satchel records clear planner.satchel drafts

      Exit codes: 0 all records were deleted, or there were none; 1 a record of another collection keeps one \
      from being deleted, and nothing was changed; 2 could not run.
      """)

  @OptionGroup var arguments: RecordArguments

  func run() throws {
    let count = try arguments.change { try $0.clear() }
    let output = try Output()
    let json: JSONValue = ["deleted": .int(Int64(count))]
    let text = "\(arguments.collection): \(Terminal.count(count, "record")) deleted"
    try output.put((arguments.json ? json.plainText : text) + "\n")
    try output.finish()
  }
}

/// `satchel records drop`: removes a collection from a store.
struct RecordDropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Remove a collection from this store; the remote and other devices keep it.",
    discussion: """
      Removes the records, the indexes and the declaration of a collection, and its conflicts. What was \
      synchronized stays on the remote, and returns when an app declares the collection again. To delete the \
      records for all devices, use "clear" and sync. A collection with changes that were never sent is dropped \
      only with --discard-unsent.

        satchel records drop planner.satchel drafts
        satchel records drop planner.satchel drafts --discard-unsent

      Exit codes: 0 dropped; 1 not dropped, because changes were never sent, or another collection has a \
      relation to it; 2 could not run.
      """)

  @OptionGroup var arguments: RecordArguments

  @Flag(help: "Drop the collection even if changes were never sent.")
  var discardUnsent = false

  func run() throws {
    let name = arguments.collection
    try arguments.store.change { store in
      guard try RecordArguments.find(name, in: store) != nil else {
        throw SatchelError(.notFound, "\(store.path): has no collection \(name)")
      }
      do {
        try store.dropCollection(name, discardingUnsent: discardUnsent)
      } catch let error as SatchelError where error.code == .conflict {
        throw SatchelError(.conflict, "\(error.message) with --discard-unsent")
      }
    }
    let output = try Output()
    let json: JSONValue = ["dropped": .string(name)]
    try output.put((arguments.json ? json.plainText : "\(name): dropped") + "\n")
    try output.finish()
  }
}
