import SatchelStorage

/// What a state of the store says of a collection.
struct CollectionRow: Sendable {
  var id: Int64
  var name: String
  var version: Int64
  var shape: Int64
  /// Of the records with numbers below `counted`.
  var stored: Int64
  /// The numbers below are counted; those from here on are few, see `WorkingCollection`.
  var counted: Int64
  /// The number that the next record takes.
  var next: Int64
  /// Numbers up to here are in record_key.
  var indexedThrough: Int64
  /// The number of the latest change that has to travel.
  var sequence: Int64
  var isSynchronised: Bool

  private init(_ row: Statement) throws {
    id = try row.integer(0, in: RecordRow.collections)
    name = row.text(1)
    version = try row.integer(2, in: RecordRow.versions)
    shape = try row.integer(3, in: StoredRange.count)
    stored = try row.integer(4, in: RecordRow.numbers)
    counted = try row.integer(5, in: RecordRow.numbers)
    next = max(counted, row.anyInteger(9) - RecordRow.base(of: id) + 1)
    indexedThrough = try row.integer(6, in: RecordRow.numbers)
    sequence = try row.integer(7, in: StoredRange.count)
    isSynchronised = !row.isNull(8)
  }

  static func read(_ id: Int64, _ connection: Connection) throws -> CollectionRow? {
    try connection.first(
      """
      SELECT id, name, version, shape, count, next, indexed_through, sequence, sync,
      (SELECT max(id) FROM record WHERE id > ?1 << 40 AND id < (?1 + 1) << 40) FROM record_collection WHERE id = ?1
      """, .integer(id), read: CollectionRow.init)
  }

  /// How many records it has.
  func count(_ connection: Connection) throws -> Int64 {
    try stored + Self.uncounted(id, counted..<max(counted, next), connection)
  }

  /// How many records have certain numbers.
  static func uncounted(_ id: Int64, _ numbers: Range<Int64>, _ connection: Connection) throws -> Int64 {
    guard !numbers.isEmpty else { return 0 }
    let base = RecordRow.base(of: id)
    return try connection.number(
      "SELECT count(*) FROM record WHERE id >= ? AND id < ?", .integer(base + numbers.lowerBound),
      .integer(base + numbers.upperBound))
  }

  static func id(of name: String, _ connection: Connection) throws -> Int64? {
    try connection.first("SELECT id FROM record_collection WHERE name = ?", .text(name)) {
      try $0.integer(0, in: RecordRow.collections)
    }
  }

  /// Makes a collection that nobody has declared yet; others may refer to it.
  static func make(_ name: String, _ connection: Connection) throws -> Int64 {
    try connection.run(
      """
      INSERT INTO record_collection(name, version, shape, count, next, indexed_through, declaration, sequence)
      VALUES(?, 0, 0, 0, 1, 0, '', 0)
      """, .text(name))
    return connection.lastInsertedRow
  }
}
