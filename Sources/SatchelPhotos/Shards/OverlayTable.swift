import SatchelCore
import SatchelStorage

/// The table `photo_change`: the changes of a catalogue on top of the shards' bases.
struct OverlayTable {
  /// A change; its bytes are valid until the statement steps.
  struct Row {
    var md5: MD5
    var sequence: Int64
    var photodate: Int64
    var isInBase: Bool
    /// The photo's line; nil for a deletion.
    var line: UnsafeRawBufferPointer?
  }

  let connection: Connection
  let catalogue: Int64

  func row<Result>(_ md5: MD5, _ body: (Row) throws -> Result) throws -> Result? {
    let statement = try connection.prepared(
      "SELECT md5, sequence, photodate, in_base, line FROM photo_change WHERE catalogue = ? AND md5 = ?")
    defer { statement.reset() }
    return try md5.withBytes { key -> Result? in
      try statement.bind(.integer(catalogue), at: 1)
      try statement.bind(.blob(key), at: 2)
      guard try statement.step() else { return nil }
      return try body(Self.read(statement))
    }
  }

  func put(_ row: Row) throws {
    let statement = try connection.prepared(
      """
      INSERT OR REPLACE INTO photo_change(catalogue, md5, sequence, photodate, in_base, line)
      VALUES(?, ?, ?, ?, ?, ?)
      """)
    defer { statement.reset() }
    try row.md5.withBytes { key in
      try statement.bind(.integer(catalogue), at: 1)
      try statement.bind(.blob(key), at: 2)
      try statement.bind(.integer(row.sequence), at: 3)
      try statement.bind(.integer(row.photodate), at: 4)
      try statement.bind(.integer(row.isInBase ? 1 : 0), at: 5)
      try statement.bind(row.line.map { .blob($0) } ?? .null, at: 6)
      _ = try statement.step()
    }
  }

  func remove(_ md5: MD5) throws {
    try md5.withBytes {
      try connection.run(
        "DELETE FROM photo_change WHERE catalogue = ? AND md5 = ?", .integer(catalogue), .blob($0))
    }
  }

  func removeAll(of shard: Shard.Index) throws {
    let bounds = MD5.bounds(of: shard)
    try bounds.lowerBound.withBytes { first in
      try bounds.upperBound.withBytes { last in
        try connection.run(
          "DELETE FROM photo_change WHERE catalogue = ? AND md5 BETWEEN ? AND ?", .integer(catalogue),
          .blob(first), .blob(last))
      }
    }
  }

  static func read(_ statement: Statement) throws -> Row {
    guard let md5 = MD5(row: statement.bytes(0)) else {
      throw SatchelError(.damaged, "photo_change: an md5 has \(statement.bytes(0).count) bytes")
    }
    return Row(
      md5: md5, sequence: try statement.integer(1, in: StoredRange.count), photodate: statement.anyInteger(2),
      isInBase: statement.flag(3), line: statement.isNull(4) ? nil : statement.bytes(4))
  }
}

/// Reads a shard's changes in the order of their md5. A connection supports one reader at a time.
final class OverlayReader {
  private let statement: Statement?
  /// The bytes of both bounds, which the statement refers to.
  private let bounds: UnsafeMutableRawBufferPointer
  /// The next change; its bytes are valid until `advance`.
  private(set) var current: OverlayTable.Row?

  /// - Parameters:
  ///   - range: the range of one shard, or part of it
  ///   - isEmpty: whether there is nothing to read
  init(_ connection: Connection, catalogue: Int64, in range: ClosedRange<MD5>, isEmpty: Bool = false) throws {
    let bounds = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 8)
    range.lowerBound.withBytes { bounds.copyMemory(from: $0) }
    range.upperBound.withBytes { UnsafeMutableRawBufferPointer(rebasing: bounds[16...]).copyMemory(from: $0) }
    self.bounds = bounds
    guard !isEmpty else {
      statement = nil
      return
    }
    let statement = try connection.prepared(
      """
      SELECT md5, sequence, photodate, in_base, line FROM photo_change
      WHERE catalogue = ? AND md5 BETWEEN ? AND ? ORDER BY md5
      """)
    self.statement = statement
    try statement.bind(.integer(catalogue), at: 1)
    try statement.bind(.blob(UnsafeRawBufferPointer(rebasing: bounds[..<16])), at: 2)
    try statement.bind(.blob(UnsafeRawBufferPointer(rebasing: bounds[16...])), at: 3)
    try advance()
  }

  deinit {
    statement?.reset()
    bounds.deallocate()
  }

  func advance() throws {
    guard let statement, try statement.step() else {
      current = nil
      return
    }
    current = try OverlayTable.read(statement)
  }
}
