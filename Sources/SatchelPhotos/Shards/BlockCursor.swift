import SatchelCore
import SatchelStorage

/// Looks up photos of a shard version; caches the last block, so that lookups in order read each block once.
final class BlockCursor {
  private let table: BlockTable
  private let version: ShardVersion
  private var lines: [UInt8] = []
  private var location: BlockLocation
  private var isPlain = true
  /// The range that the block covers; nil before the first lookup.
  private var first: MD5?
  private var end: MD5?

  init(_ connection: Connection, _ version: ShardVersion, shard: Shard.Index) {
    table = BlockTable(connection: connection, shard: shard)
    self.version = version
    location = BlockLocation(shard: shard, id: 0)
  }

  /// Passes a photo's line to `body`; nil when the version does not have the photo.
  func withLine<Result>(of md5: MD5, _ body: (UnsafeRawBufferPointer?) throws -> Result) throws -> Result {
    guard version.id != 0, version.photos > 0 else { return try body(nil) }
    let isCovered = first.map { $0 <= md5 && (end.map { md5 < $0 } ?? true) } ?? false
    if !isCovered { try load(md5) }
    guard first != nil else { return try body(nil) }
    return try lines.withUnsafeBytes { bytes in
      let block = BlockTable.Block(location: location, isPlain: isPlain, lines: bytes)
      return try body(block.line(of: md5).map { bytes[within: $0] })
    }
  }

  func contains(_ md5: MD5) throws -> Bool { try withLine(of: md5) { $0 != nil } }

  private func load(_ md5: MD5) throws {
    first = nil
    try md5.withBytes { key in
      try table.connection.each(
        """
        SELECT id, is_plain, lines, first FROM photo_block AS cursor
        WHERE level = ? AND first <= ? ORDER BY first DESC LIMIT 1
        """, .integer(version.id), .blob(key)
      ) { row in
        let block = BlockTable.Block(row, table.shard)
        location = block.location
        isPlain = block.isPlain
        lines.removeAll(keepingCapacity: true)
        lines.append(contentsOf: block.lines)
        first = MD5(row: row.bytes(3))
      }
      end =
        try table.connection.first(
          "SELECT first FROM photo_block WHERE level = ? AND first > ? ORDER BY first LIMIT 1",
          .integer(version.id), .blob(key)
        ) { MD5(row: $0.bytes(0)) } ?? nil
    }
  }
}
