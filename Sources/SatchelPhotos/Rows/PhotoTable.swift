import SatchelCore
import SatchelStorage

/// The table `photo`: a catalogue's photos, one a row.
struct PhotoTable {
  let connection: Connection
  let catalogue: Int64

  /// Returns a photo's canonical line; nil when there is no such photo.
  func line(of md5: MD5) throws -> [UInt8]? {
    try read(md5) { row in
      var line: [UInt8] = []
      Self.writeLine(row, md5, into: &line)
      return line
    }
  }

  func photo(_ md5: MD5) throws -> Photo? { try read(md5) { Self.photo($0, md5) } }

  private func read<Result>(_ md5: MD5, _ body: (Statement) throws -> Result) throws -> Result? {
    try md5.withBytes {
      try connection.first(
        """
        SELECT md5, filename, size, photodate, modified, width, height, apple_photo_id FROM photo
        WHERE catalogue = ? AND md5 = ?
        """, .integer(catalogue), .blob($0), read: body)
    }
  }

  /// Inserts or replaces a photo.
  ///
  /// - Parameter line: its canonical line
  func put(_ md5: MD5, _ line: UnsafeRawBufferPointer) throws {
    var reader = ShardReader(line, shard: md5.shard)
    guard case .photo(let row) = reader.next(), row.md5 == md5 else {
      throw SatchelError(.damaged, "shard \(md5.shard): the row of \(md5) cannot be read")
    }
    let statement = try connection.prepared(
      """
      INSERT OR REPLACE INTO photo(catalogue, md5, filename, size, photodate, modified, width, height, apple_photo_id)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    defer { statement.reset() }
    func bind(_ field: ShardRow.Field, at index: Int32) throws {
      guard field.hasDoubledQuotes else {
        return try statement.bind(.textBytes(line[within: field.start..<field.end]), at: index)
      }
      try statement.bind(.text(ShardRow.text(field, in: line)), at: index)
    }
    try statement.bind(.integer(catalogue), at: 1)
    try bind(row.filename, at: 3)
    try statement.bind(.integer(row.size), at: 4)
    try statement.bind(.integer(row.photodate), at: 5)
    try statement.bind(.integer(row.modified), at: 6)
    try statement.bind(row.width.map { .integer($0) } ?? .null, at: 7)
    try statement.bind(row.height.map { .integer($0) } ?? .null, at: 8)
    let hasIdentifier = row.applePhotoID.start < row.applePhotoID.end
    if hasIdentifier { try bind(row.applePhotoID, at: 9) } else { try statement.bind(.null, at: 9) }
    try md5.withBytes {
      try statement.bind(.blob($0), at: 2)
      _ = try statement.step()
    }
  }

  /// Runs `body`, which adds many photos in the order of their md5, and makes the index of dates after it: dates are in
  /// no order, and one at a time they would be inserted at random into an index that is larger than the cache.
  ///
  /// So it is for an empty table, and where the index has the last root page of the file: it then gets the same again,
  /// by which tables are recognized in a file whose schema is lost.
  func addingMany(_ body: () throws -> Void) throws {
    let isPossible = try connection.number(
      """
      SELECT NOT EXISTS(SELECT 1 FROM photo) AND (SELECT max(rootpage) FROM sqlite_schema)
      = (SELECT rootpage FROM sqlite_schema WHERE name = 'photo_photodate')
      """)
    guard isPossible != 0 else { return try body() }
    try connection.run("DROP INDEX photo_photodate")
    try body()
    try connection.execute(PhotoSchema.dates)
  }

  /// Moves a photo to the trash.
  func remove(_ md5: MD5, now: Int64) throws {
    try TrashTable(connection: connection, catalogue: catalogue).add(md5, now: now)
    try md5.withBytes {
      try connection.run("DELETE FROM photo WHERE catalogue = ? AND md5 = ?", .integer(catalogue), .blob($0))
    }
  }

  func count(of shard: Shard.Index) throws -> Int64 {
    let bounds = RangeBytes(shard)
    return try withExtendedLifetime(bounds) {
      let statement = try connection.prepared(
        "SELECT count(*) FROM photo WHERE catalogue = ? AND md5 BETWEEN ? AND ?")
      defer { statement.reset() }
      try bounds.bind(to: statement, catalogue: catalogue)
      return try statement.step() ? statement.integer(0) : 0
    }
  }

  // MARK: Reading rows

  /// Appends the canonical line of a row.
  ///
  /// - Parameter row: a statement whose columns begin with md5, filename, size, photodate, modified, width, height,
  ///   apple_photo_id
  static func writeLine(_ row: Statement, _ md5: MD5, into line: inout [UInt8]) {
    func number(_ column: Int32) -> Int64? { row.isNull(column) ? nil : row.anyInteger(column) }
    ShardWriter.write(
      md5, filename: row.bytes(1), size: row.anyInteger(2), photodate: row.anyInteger(3),
      modified: row.anyInteger(4), width: number(5), height: number(6), applePhotoID: row.bytes(7),
      into: &line)
  }

  /// - Parameter row: as of `writeLine`
  static func photo(_ row: Statement, _ md5: MD5) -> Photo {
    Photo(
      md5: md5, filename: row.text(1), size: row.anyInteger(2), photodate: row.anyInteger(3),
      modified: row.anyInteger(4), width: row.isNull(5) ? nil : row.anyInteger(5),
      height: row.isNull(6) ? nil : row.anyInteger(6), applePhotoID: row.textIfAny(7))
  }

  static func md5(_ row: Statement, of table: String) throws -> MD5 {
    guard let md5 = MD5(row: row.bytes(0)) else {
      throw SatchelError(.damaged, "\(table): an md5 has \(row.bytes(0).count) bytes")
    }
    return md5
  }
}

/// The bytes of a shard's first and last md5, which a statement refers to while it is read.
final class RangeBytes {
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 8)

  init(_ shard: Shard.Index, from first: MD5? = nil) {
    let range = MD5.bounds(of: shard)
    (first ?? range.lowerBound).withBytes { bytes.copyMemory(from: $0) }
    range.upperBound.withBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[16...]).copyMemory(from: $0) }
  }

  deinit { bytes.deallocate() }

  func bind(to statement: Statement, catalogue: Int64) throws {
    try statement.bind(.integer(catalogue), at: 1)
    try statement.bind(.blob(UnsafeRawBufferPointer(rebasing: bytes[..<16])), at: 2)
    try statement.bind(.blob(UnsafeRawBufferPointer(rebasing: bytes[16...])), at: 3)
  }
}

/// Reads a shard's photos as canonical lines, in the order of their md5. A connection supports one reader at a time.
final class PhotoLineReader {
  private let statement: Statement
  private let bounds: RangeBytes
  /// The current photo; nil after the last.
  private(set) var md5: MD5?
  /// The current photo's line.
  private(set) var line: [UInt8] = []

  /// - Parameter first: photos before are not read
  init(_ connection: Connection, catalogue: Int64, _ shard: Shard.Index, from first: MD5? = nil) throws {
    bounds = RangeBytes(shard, from: first)
    statement = try connection.prepared(
      """
      SELECT md5, filename, size, photodate, modified, width, height, apple_photo_id FROM photo AS line
      WHERE catalogue = ? AND md5 BETWEEN ? AND ? ORDER BY md5
      """)
    try bounds.bind(to: statement, catalogue: catalogue)
    try advance()
  }

  deinit { statement.reset() }

  func advance() throws {
    guard try statement.step() else {
      md5 = nil
      return
    }
    let next = try PhotoTable.md5(statement, of: "photo")
    md5 = next
    line.removeAll(keepingCapacity: true)
    PhotoTable.writeLine(statement, next, into: &line)
  }
}
