import ArgumentParser
import Satchel

/// `satchel records`.
struct RecordsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "records",
    abstract: "Show and change the records of a store; export, import and compare collections.",
    discussion: """
      A collection is a set of JSON documents with ids. Its file formats are the mirror file, which is one \
      JSON document with a checksum, plain JSON as other programs write it, and JSON lines.

        satchel records list planner.satchel
        satchel records list planner.satchel courses --where '{"credits": {"gte": 6}}' --order-by title
        satchel records get planner.satchel courses algebra
        satchel records put planner.satchel courses algebra '{"title": "Linear Algebra", "credits": 6}'
        satchel records export planner.satchel courses courses.json
        satchel records verify planner.satchel courses courses.json
        satchel records import planner.satchel courses courses.json
      """,
    subcommands: [
      RecordListCommand.self, RecordGetCommand.self, RecordPutCommand.self, RecordDeleteCommand.self,
      RecordClearCommand.self, RecordDropCommand.self, RecordExportCommand.self, RecordImportCommand.self,
      RecordVerifyCommand.self,
    ])
}

/// The arguments of most commands for records: a store and one of its collections.
struct RecordArguments: ParsableArguments {
  @OptionGroup var store: KeyedStoreArguments

  @Argument(help: "The collection's name.")
  var collection: String

  var json: Bool { store.json }

  /// Opens the store and the collection read-only, runs `body`, and closes them.
  func withCollection<Result>(_ body: (RecordCollection) throws -> Result) throws -> Result {
    let store = try self.store.open()
    defer { try? store.close() }
    return try body(Self.collection(collection, of: store))
  }

  /// Opens the store for writing and the collection, runs `body`, and closes them; see
  /// `StoreArguments.change`.
  func change<Result>(_ body: (RecordCollection) throws -> Result) throws -> Result {
    try store.change { try body(Self.collection(collection, of: $0)) }
  }

  /// Opens an existing collection without changing its declaration.
  ///
  /// - Parameter creating: whether the command could create it; nil when the command never does
  /// - Throws: `SatchelError` `.notFound` when it does not exist
  static func collection(
    _ name: String, of store: Store, creating: Bool? = nil
  ) throws -> RecordCollection {
    guard let known = try find(name, in: store) else {
      let hint = creating == nil ? "" : "; --create creates it"
      throw SatchelError(.notFound, "\(store.path): has no collection \(name)\(hint)")
    }
    return try store.records(known.name)
  }

  /// Returns the collection with a name, compared by bytes; nil when it does not exist.
  static func find(_ name: String, in store: Store) throws -> CollectionInfo? {
    try store.collections().first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}
