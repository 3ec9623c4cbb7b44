import SatchelCore
import SatchelStorage

/// A version of a shard's content, stored in blocks: a row of `photo_version`.
struct ShardVersion: Equatable {
  /// 0 for the empty version, which has no row.
  var id: Int64
  /// SHA-256 of the bytes.
  var checksum: String
  var photos: Int64
  /// Rejected lines that are kept.
  var kept: Int64
  var bytes: Int64

  static let empty = ShardVersion(id: 0, checksum: Shard.emptyChecksum, photos: 0, kept: 0, bytes: 0)

  /// The range of its blocks' ids.
  var blocks: ClosedRange<Int64> { (id << 32)...(id << 32 | 0xFFFF_FFFF) }
}

/// Reads a version's photos in order, one block in memory at a time.
final class ShardVersionReader {
  /// Readers that are in use at the same time have different roles: each role has a statement of its own.
  enum Role {
    case base, ancestor
  }

  /// A photo's line; its bytes are valid until the next row is read.
  struct Row {
    var md5: MD5
    var line: UnsafeRawBufferPointer
  }

  private let shard: Shard.Index
  private let statement: Statement?
  private var block: BlockTable.Block?
  private var reader: BlockReader?
  private var last: MD5?

  init(_ connection: Connection, _ version: ShardVersion, shard: Shard.Index, role: Role = .base) throws {
    self.shard = shard
    guard version.id != 0 else {
      statement = nil
      return
    }
    let statement =
      switch role {
      case .base:
        try connection.prepared(
          """
          SELECT id, is_plain, lines FROM photo_block
          WHERE id BETWEEN ? AND ? ORDER BY id
          """)
      case .ancestor:
        try connection.prepared(
          """
          SELECT id, is_plain, lines FROM photo_block AS ancestor
          WHERE id BETWEEN ? AND ? ORDER BY id
          """)
      }
    try statement.bind([.integer(version.blocks.lowerBound), .integer(version.blocks.upperBound)])
    self.statement = statement
  }

  deinit { statement?.reset() }

  /// Returns the next block; nil after the last. Skips the rest of the block before.
  func nextBlock() throws -> BlockTable.Block? {
    guard let statement, try statement.step() else { return nil }
    return BlockTable.Block(statement, shard)
  }

  /// Returns the next photo.
  ///
  /// - Throws: `.damaged` also when photos are not in order
  func next() throws -> Row? {
    while true {
      while let line = try reader?.next() {
        guard case .photo(let md5, let range) = line, let block else { continue }
        if let last, last >= md5 { throw block.location.damage("photos are not in order") }
        last = md5
        return Row(md5: md5, line: block.lines[within: range])
      }
      guard let found = try nextBlock() else { return nil }
      block = found
      reader = found.reader
    }
  }
}
