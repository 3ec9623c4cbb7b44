import SatchelStorage

/// Reads a level's photos in order, one block in memory at a time.
final class LevelReader {
  /// Which of the readers that are in use at the same time: each has a statement of its own.
  enum Role {
    case base, ancestor
  }

  /// A photo's line; its bytes are valid until the next is asked for.
  struct Row {
    var md5: MD5
    var line: UnsafeRawBufferPointer
  }

  private let shard: Shard.Index
  private let statement: Statement?
  private var block: BlockTable.Block?
  private var reader: BlockReader?
  private var last: MD5?

  init(_ connection: Connection, _ level: ShardLevel, shard: Shard.Index, role: Role = .base) throws {
    self.shard = shard
    guard level.id != 0 else {
      statement = nil
      return
    }
    let statement =
      switch role {
      case .base:
        try connection.prepared(
          """
          SELECT id, is_plain, lines, photos, first, earliest, latest FROM photo_block
          WHERE id BETWEEN ? AND ? ORDER BY id
          """)
      case .ancestor:
        try connection.prepared(
          """
          SELECT id, is_plain, lines, photos, first, earliest, latest FROM photo_block AS ancestor
          WHERE id BETWEEN ? AND ? ORDER BY id
          """)
      }
    try statement.bind([.integer(level.blocks.lowerBound), .integer(level.blocks.upperBound)])
    self.statement = statement
  }

  deinit { statement?.reset() }

  /// The next block; nil behind the last. What is left of the one before is skipped.
  func nextBlock() throws -> BlockTable.Block? {
    guard let statement, try statement.step() else { return nil }
    return BlockTable.Block(statement, shard)
  }

  /// The next photo.
  ///
  /// - Throws: `.damaged` also when photos are not in order
  func next() throws -> Row? {
    while true {
      while let line = try reader?.next() {
        guard case .photo(let md5, let range) = line, let block else { continue }
        if let last, last >= md5 { throw block.place.damage("photos are not in order") }
        last = md5
        return Row(md5: md5, line: block.lines[within: range])
      }
      guard let found = try nextBlock() else { return nil }
      block = found
      reader = found.reader
    }
  }

  // What the block's row says of it.

  var photos: Int64 { statement?.anyInteger(3) ?? 0 }
  var first: MD5? { statement.flatMap { MD5(row: $0.bytes(4)) } }
  var earliest: Int64? { number(5) }
  var latest: Int64? { number(6) }

  private func number(_ column: Int32) -> Int64? {
    statement.flatMap { $0.isNull(column) ? nil : $0.anyInteger(column) }
  }
}
