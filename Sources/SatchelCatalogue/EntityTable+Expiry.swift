import SatchelStorage

extension EntityTable {
  /// Rows that share an entry of `expiry_block`.
  private static let blockSize: Int64 = 256

  /// Notes that an entity expires at `expiry`, should that be the first of its block.
  func lowerEarliest(of row: Int64, to expiry: Int64) throws {
    let block = row / Self.blockSize
    let known = try connection.prepared("SELECT earliest FROM expiry_block WHERE block = ?")
    defer { known.reset() }
    try known.bind(.integer(block), at: 1)
    if try known.step(), known.anyInteger(0) <= expiry { return }
    known.reset()
    try connection.run(
      "INSERT OR REPLACE INTO expiry_block(block, earliest) VALUES(?, ?)", .integer(block), .integer(expiry))
  }

  /// Rows of entities that have content and have expired, in the order of their rows.
  func expired(at now: Int64) throws -> [Int64] {
    var blocks: [Int64] = []
    try connection.each("SELECT block FROM expiry_block WHERE earliest <= ?", .integer(now)) {
      blocks.append(try $0.integer(0, in: 0...1 << 45))
    }
    var rows: [Int64] = []
    for block in blocks {
      try connection.each(
        "SELECT id FROM entity WHERE id >= ? AND id < ? AND size IS NOT NULL AND expires_at <= ?",
        .integer(block * Self.blockSize), .integer((block + 1) * Self.blockSize), .integer(now)
      ) { rows.append(try $0.integer(0)) }
    }
    return rows
  }

  /// Brings the blocks up to date in which something may have expired, after a prune.
  func refreshBlocks(at now: Int64) throws {
    var blocks: [Int64] = []
    try connection.each("SELECT block FROM expiry_block WHERE earliest <= ?", .integer(now)) {
      blocks.append(try $0.integer(0, in: 0...1 << 45))
    }
    for block in blocks {
      let earliest = try connection.first(
        "SELECT min(expires_at) FROM entity WHERE id >= ? AND id < ? AND size IS NOT NULL",
        .integer(block * Self.blockSize), .integer((block + 1) * Self.blockSize)
      ) { try $0.integerIfAny(0) }
      if let earliest = earliest ?? nil {
        try connection.run(
          "UPDATE expiry_block SET earliest = ? WHERE block = ?", .integer(earliest), .integer(block))
      } else {
        try connection.run("DELETE FROM expiry_block WHERE block = ?", .integer(block))
      }
    }
  }
}
