import ArgumentParser
import Satchel

/// What most commands about records take: a store, and one of its collections.
struct RecordArguments: ParsableArguments {
  @OptionGroup var store: StoreArguments

  @Argument(help: "The collection's name.")
  var collection: String

  var json: Bool { store.json }

  /// Opens the store and the collection to read, for `body` only.
  func withCollection<Result>(_ body: (RecordCollection) throws -> Result) throws -> Result {
    let store = try self.store.open()
    defer { try? store.close() }
    return try body(Self.collection(collection, of: store))
  }

  /// A collection as it is.
  ///
  /// - Throws: `SatchelError` `.notFound` when there is none
  static func collection(_ name: String, of store: Satchel) throws -> RecordCollection {
    guard let known = try find(name, in: store) else {
      throw SatchelError(.notFound, "\(store.path): has no collection \(name)")
    }
    return try store.records(known.name)
  }

  /// Names are bytes, and compared as such.
  static func find(_ name: String, in store: Satchel) throws -> CollectionInfo? {
    try store.collections().first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}
