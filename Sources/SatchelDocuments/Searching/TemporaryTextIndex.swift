import SatchelCore
import SatchelStorage

/// The index of the texts of a collection, of a store that is opened read-only and whose own index is not up to date: in
/// memory.
struct TemporaryTextIndex: Sendable {
  /// The most memory that it takes; a larger one is refused.
  private static let maxBytes: Int64 = 256 << 20
  /// The number of collections of which one is kept.
  private static let maxKept = 4

  private let collection: Int64
  /// The newest commit that it has.
  private let revision: Int64
  let connection: Connection

  private init(_ texts: RecordTextIndex, of row: CollectionState, _ connection: Connection) throws {
    (collection, revision) = (row.id, try ChangeLog.newest(connection))
    self.connection = try Connection.inMemory(maxBytes: Self.maxBytes)
    do {
      try RecordTextIndex.make(self.connection)
      try self.connection.execute("BEGIN")
      try texts.fill(self.connection, from: connection)
      try self.connection.execute("COMMIT")
    } catch let error as SatchelError where error.code == .full {
      throw SatchelError(
        .full,
        "\(row.name): the search index of a read-only store would have more than \(Self.maxBytes >> 20) MiB of"
          + " memory; search once with the store opened writable, which keeps an index in the file",
        underlying: error)
    }
  }

  /// Runs `body` with the index of a connection's snapshot: a known one, or a new one after a commit. Others wait, since
  /// the index has one connection.
  static func with<Result>(
    _ texts: RecordTextIndex, of row: CollectionState, _ connection: Connection,
    in known: borrowing Locked<[TemporaryTextIndex]>, _ body: (Connection) throws -> Result
  ) throws -> Result {
    let revision = try ChangeLog.newest(connection)
    return try known.withLock { known in
      if let index = known.first(where: { $0.collection == row.id && $0.revision == revision }) {
        return try body(index.connection)
      }
      known.removeAll { $0.collection == row.id }
      let index = try TemporaryTextIndex(texts, of: row, connection)
      known = [index] + known.prefix(maxKept - 1)
      return try body(index.connection)
    }
  }
}
