import SatchelCore
import SatchelStorage

/// The search index of a store that is opened read-only and whose own index is not up to date: in memory.
struct TemporarySearchIndex {
  /// The most memory that it takes; a larger one is refused.
  static let maxBytes: Int64 = 256 << 20

  let index: SearchIndex
  /// The newest commit that it has.
  private let revision: Int64

  /// Indexes all entities of a snapshot.
  private init(of connection: Connection, through revision: Int64) throws {
    self.revision = revision
    let memory = try Connection.inMemory(maxBytes: Self.maxBytes)
    index = SearchIndex(connection: memory)
    do {
      try index.make()
      try memory.execute("BEGIN")
      let entities = SearchIndex(connection: connection)
      try connection.each("SELECT id FROM entity") {
        let row = $0.anyInteger(0)
        if let tokens = try entities.tokens(of: row) { try index.insert(tokens, row: row) }
      }
      try memory.execute("COMMIT")
    } catch let error as SatchelError where error.code == .full {
      throw SatchelError(
        .full,
        "\(connection.path): the search index of a read-only store would have more than \(Self.maxBytes >> 20) MiB of"
          + " memory; search once with the store opened writable, which keeps an index in the file",
        underlying: error)
    }
  }

  /// Returns the index of a connection's snapshot: the given one, or a new one after a commit.
  static func current(_ known: TemporarySearchIndex?, _ connection: Connection) throws -> TemporarySearchIndex
  {
    let revision = try ChangeLog.newest(connection)
    if let known, known.revision == revision { return known }
    return try TemporarySearchIndex(of: connection, through: revision)
  }
}
