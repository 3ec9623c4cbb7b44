import SatchelCore
import SatchelStorage

/// Reads the blocks of a version that can have photos of a range, in either direction. A connection supports one
/// source of each kind at a time.
final class BlockSource {
  private let statement: Statement?
  private let version: ShardVersion
  private let shard: Shard.Index
  /// The places whose blocks are read, in the order of reading; nil to read all.
  private var places: ArraySlice<UInt64>?
  private var last: Int64?

  /// - Parameter places: only their blocks are read; in ascending order
  init(
    _ connection: Connection, _ version: ShardVersion, shard: Shard.Index, in range: ClosedRange<MD5>,
    isDescending: Bool, places: [UInt64]?
  ) throws {
    (self.version, self.shard) = (version, shard)
    if let places {
      self.places = (isDescending ? places.reversed() : places)[...]
    }
    guard version.id != 0 else {
      statement = nil
      return
    }
    let first = BlockTable.id(of: range.lowerBound.place, version: version.id)
    if places != nil {
      statement = try connection.prepared(
        "SELECT id, is_plain, lines FROM photo_block AS seek WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1")
    } else if isDescending {
      let statement = try connection.prepared(
        """
        SELECT id, is_plain, lines FROM photo_block AS scan WHERE id >= ?1 AND id <= coalesce(
        (SELECT id FROM photo_block WHERE id BETWEEN ?2 AND ?3 ORDER BY id LIMIT 1), ?3) ORDER BY id DESC
        """)
      let end = BlockTable.id(of: range.upperBound.place, version: version.id)
      try statement.bind([.integer(first), .integer(end), .integer(version.blocks.upperBound)])
      self.statement = statement
    } else {
      let statement = try connection.prepared(
        "SELECT id, is_plain, lines FROM photo_block AS scan WHERE id BETWEEN ? AND ? ORDER BY id")
      try statement.bind([.integer(first), .integer(version.blocks.upperBound)])
      self.statement = statement
    }
  }

  deinit { statement?.reset() }

  /// Returns the next block; nil after the last. Its bytes are valid until the next call.
  func next() throws -> BlockTable.Block? {
    guard let statement else { return nil }
    guard places != nil else { return try statement.step() ? BlockTable.Block(statement, shard) : nil }
    while let place = places?.popFirst() {
      statement.reset()
      try statement.bind(.integer(BlockTable.id(of: place, version: version.id)), at: 1)
      try statement.bind(.integer(version.blocks.upperBound), at: 2)
      guard try statement.step() else { continue }
      let block = BlockTable.Block(statement, shard)
      if block.location.id == last { continue }
      last = block.location.id
      return block
    }
    return nil
  }
}

/// A copy of a block, which stays while the next one is read.
final class BlockCopy {
  private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: BlockTable.size * 2, alignment: 8)
  private(set) var block: BlockTable.Block?

  deinit { memory.deallocate() }

  func load(_ other: BlockTable.Block) {
    if other.lines.count > memory.count {
      memory.deallocate()
      memory = .allocate(byteCount: other.lines.count, alignment: 8)
    }
    memory.copyMemory(from: other.lines)
    let lines = UnsafeRawBufferPointer(memory)[within: 0..<other.lines.count]
    block = BlockTable.Block(location: other.location, isPlain: other.isPlain, lines: lines)
  }
}
