import SatchelCore
import SatchelStorage

/// Looks up photos of a shard version; caches the last block, so that lookups in order read each block once.
final class BlockCursor {
  private let table: BlockTable
  private let version: ShardVersion
  private var lines: [UInt8] = []
  private var location: BlockLocation
  private var isPlain = true
  /// The range that the block covers, from the photo that it was read for; nil before the first lookup.
  private var first: MD5?
  private var last: MD5?

  init(_ connection: Connection, _ version: ShardVersion, shard: Shard.Index) {
    table = BlockTable(connection: connection, shard: shard)
    self.version = version
    location = BlockLocation(shard: shard, id: 0)
  }

  /// Passes a photo's line to `body`; nil when the version does not have the photo.
  func withLine<Result>(of md5: MD5, _ body: (UnsafeRawBufferPointer?) throws -> Result) throws -> Result {
    guard version.id != 0, version.photos > 0 else { return try body(nil) }
    if let first, let last, first <= md5, md5 <= last {} else { try load(md5) }
    guard first != nil else { return try body(nil) }
    return try lines.withUnsafeBytes { bytes in
      let block = BlockTable.Block(location: location, isPlain: isPlain, lines: bytes)
      return try body(block.line(of: md5).map { bytes[within: $0] })
    }
  }

  func contains(_ md5: MD5) throws -> Bool { try withLine(of: md5) { $0 != nil } }

  private func load(_ md5: MD5) throws {
    first = nil
    try table.connection.each(
      """
      SELECT id, is_plain, lines FROM photo_block AS cursor WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1
      """, .integer(BlockTable.id(of: md5.place, version: version.id)), .integer(version.blocks.upperBound)
    ) { row in
      let block = BlockTable.Block(row, table.shard)
      location = block.location
      isPlain = block.isPlain
      lines.removeAll(keepingCapacity: true)
      lines.append(contentsOf: block.lines)
      (first, last) = (md5, MD5(lastOf: block.location.place))
    }
  }
}
