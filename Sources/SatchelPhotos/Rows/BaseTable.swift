import SatchelCore
import SatchelStorage

/// The table `photo_base`: the photos that were changed locally since the last sync, with their lines before.
struct BaseTable {
  struct Row {
    var base: BaseRow<[UInt8]>
    /// Whether an imported file made the change.
    var isImported: Bool
  }

  let connection: Connection
  let catalogue: Int64

  func row(_ md5: MD5) throws -> Row? {
    try md5.withBytes {
      try connection.first(
        "SELECT md5, sequence, is_imported, line FROM photo_base WHERE catalogue = ? AND md5 = ?",
        .integer(catalogue), .blob($0)
      ) { try Self.read($0) }
    }
  }

  func put(_ md5: MD5, _ row: Row) throws {
    let statement = try connection.prepared(
      "INSERT OR REPLACE INTO photo_base(catalogue, md5, sequence, is_imported, line) VALUES(?, ?, ?, ?, ?)")
    defer { statement.reset() }
    func step(_ line: Binding) throws {
      try md5.withBytes { key in
        try statement.bind([
          .integer(catalogue), .blob(key), .integer(row.base.sequence), .integer(row.isImported ? 1 : 0),
          line,
        ])
        _ = try statement.step()
      }
    }
    guard let line = row.base.line else { return try step(.null) }
    try line.withUnsafeBytes { try step(.blob($0)) }
  }

  func remove(_ md5: MD5) throws {
    try md5.withBytes {
      try connection.run(
        "DELETE FROM photo_base WHERE catalogue = ? AND md5 = ?", .integer(catalogue), .blob($0))
    }
  }

  /// Removes all rows of a shard, or only those of imported files.
  func removeAll(of shard: Shard.Index, onlyImported: Bool = false) throws {
    let statement = try connection.prepared(
      "DELETE FROM photo_base WHERE catalogue = ? AND md5 BETWEEN ? AND ? AND is_imported >= ?")
    defer { statement.reset() }
    let bounds = RangeBytes(shard)
    try withExtendedLifetime(bounds) {
      try bounds.bind(to: statement, catalogue: catalogue)
      try statement.bind(.integer(onlyImported ? 1 : 0), at: 4)
      _ = try statement.step()
    }
  }

  /// Returns how many changes a shard has, those of single photos and those that imported files made.
  func counts(of shard: Shard.Index) throws -> (changes: Int64, imports: Int64) {
    let statement = try connection.prepared(
      """
      SELECT count(*), coalesce(sum(is_imported <> 0), 0) FROM photo_base WHERE catalogue = ? AND md5 BETWEEN ? AND ?
      """)
    defer { statement.reset() }
    let bounds = RangeBytes(shard)
    return try withExtendedLifetime(bounds) {
      try bounds.bind(to: statement, catalogue: catalogue)
      guard try statement.step() else { return (0, 0) }
      return (try statement.integer(0) - statement.integer(1), try statement.integer(1))
    }
  }

  static func read(_ row: Statement) throws -> Row {
    let line = row.isNull(3) ? nil : Array(row.bytes(3))
    return Row(
      base: BaseRow(line: line, sequence: try row.integer(1, in: StoredRange.count)), isImported: row.flag(2))
  }
}

/// Reads a shard's changed photos in the order of their md5. A connection supports one reader at a time.
final class BaseReader {
  private let statement: Statement?
  private let bounds: RangeBytes
  /// The current photo; nil after the last.
  private(set) var md5: MD5?
  private(set) var row: BaseTable.Row?

  /// - Parameters:
  ///   - first: photos before are not read
  ///   - isEmpty: whether there is nothing to read
  init(
    _ connection: Connection, catalogue: Int64, _ shard: Shard.Index, from first: MD5? = nil,
    isEmpty: Bool = false
  ) throws {
    bounds = RangeBytes(shard, from: first)
    guard !isEmpty else {
      statement = nil
      return
    }
    let statement = try connection.prepared(
      """
      SELECT md5, sequence, is_imported, line FROM photo_base WHERE catalogue = ? AND md5 BETWEEN ? AND ? ORDER BY md5
      """)
    self.statement = statement
    try bounds.bind(to: statement, catalogue: catalogue)
    try advance()
  }

  deinit { statement?.reset() }

  func advance() throws {
    guard let statement, try statement.step() else {
      (md5, row) = (nil, nil)
      return
    }
    md5 = try PhotoTable.md5(statement, of: "photo_base")
    row = try BaseTable.read(statement)
  }
}
