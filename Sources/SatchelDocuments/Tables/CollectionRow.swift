import SatchelCore
import SatchelJSON
import SatchelStorage

/// The row of a collection in one snapshot of the store.
struct CollectionRow: Sendable {
  var id: Int64
  var name: String
  var version: Int64
  var shape: Int64
  /// The number of records with numbers below `counted`.
  var stored: Int64
  /// Records with lower numbers are counted; those from here on are few, see `WorkingCollection`.
  var counted: Int64
  /// The number of the next record.
  var next: Int64
  /// Rows up to this number are in record_key.
  var indexedThrough: Int64
  /// The highest revision that a deleted record may have had: new records begin after it, because a new record under an
  /// old id must not have a revision that was given before.
  var revised: Int64
  /// Whether the store is bound to a sync log.
  var isBound: Bool
  /// The name of the key that seals sensitive fields; nil when none were sealed.
  var sealedBy: [UInt8]?

  private init(_ row: Statement) throws {
    id = try row.integer(0, in: RecordRow.collections)
    name = row.text(1)
    version = try row.integer(2, in: RecordRow.versions)
    shape = try row.integer(3, in: StoredRange.count)
    stored = try row.integer(4, in: RecordRow.numbers)
    counted = try row.integer(5, in: RecordRow.numbers)
    next = max(counted, row.anyInteger(8) - RecordRow.base(of: id) + 1)
    indexedThrough = try row.integer(6, in: RecordRow.numbers)
    isBound = row.flag(7)
    sealedBy = row.isNull(9) ? nil : Array(row.bytes(9))
    revised = try row.integer(10, in: RecordRow.revisions)
  }

  static func read(_ id: Int64, _ connection: Connection) throws -> CollectionRow? {
    try connection.first(
      """
      SELECT id, name, version, shape, count, next, indexed_through, EXISTS(SELECT 1 FROM sync_log),
      (SELECT max(id) FROM record WHERE id > ?1 << 40 AND id < (?1 + 1) << 40), sealed_by, revised
      FROM record_collection WHERE id = ?1
      """, .integer(id), read: CollectionRow.init)
  }

  /// Returns the number of records.
  func count(_ connection: Connection) throws -> Int64 {
    try stored + Self.uncounted(id, counted..<max(counted, next), connection: connection)
  }

  /// Returns the number of records in a range of row numbers.
  static func uncounted(_ id: Int64, _ numbers: Range<Int64>, connection: Connection) throws -> Int64 {
    guard !numbers.isEmpty else { return 0 }
    let base = RecordRow.base(of: id)
    return try connection.number(
      "SELECT count(*) FROM record WHERE id >= ? AND id < ?", .integer(base + numbers.lowerBound),
      .integer(base + numbers.upperBound))
  }

  /// Returns the id of a collection of the app; nil for a reserved one as well.
  static func id(of name: String, _ connection: Connection) throws -> Int64? {
    try connection.first("SELECT id FROM record_collection WHERE name = ? AND id > 0", .text(name)) {
      try $0.integer(0, in: RecordRow.collections)
    }
  }

  /// Creates the row of a collection that was not declared yet, so that relations can refer to it.
  static func make(_ name: String, _ connection: Connection) throws -> Int64 {
    try connection.run(
      """
      INSERT INTO record_collection(name, version, shape, count, next, revised, indexed_through, declaration)
      VALUES(?1, 0, 0, 0, 1, coalesce((SELECT revised FROM record_dropped WHERE name = ?1), 0), 0, '')
      """, .text(name))
    return connection.lastInsertedRow
  }
}

/// The numbering of rows: a collection's id times 2^40, plus the record's number.
enum RecordRow {
  static let bits: Int64 = 40

  /// The maximum id of a collection, far more than will ever exist; a row of a higher one is damaged.
  static let maxCollections: Int64 = 1 << 20

  /// The range of a collection's id; 0 is the reserved collection, see `ReservedCollection`.
  static var collections: ClosedRange<Int64> { 0...maxCollections }
  /// The range of a collection's counts, and of its records' numbers.
  static var numbers: ClosedRange<Int64> { 0...1 << bits }
  /// The range of a collection's version; 0 for one that was not declared, only referred to.
  static var versions: ClosedRange<Int64> { 0...Int64(Int32.max) }
  /// The range of revisions: other devices send revisions up to 2^53, which then increase here.
  static var revisions: ClosedRange<Int64> { 0...1 << 60 }

  /// The maximum revision after which new records of a collection begin: one record with an extreme revision must not
  /// affect the others. Far more than the writes of an app.
  static let maxStartingRevision: Int64 = 1 << 48

  static var rows: ClosedRange<Int64> { 1...(maxCollections + 1) << bits }

  static func base(of collection: Int64) -> Int64 { collection << bits }
  static func collection(of row: Int64) -> Int64 { row >> bits }

  /// Checks that a document is JSON: the file may have been damaged, or written by another program.
  static func check(_ document: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer) throws {
    do {
      try JSONScanner.check(document)
    } catch {
      throw SatchelError(
        .damaged, "record “\(String(decoding: key, as: UTF8.self))”: its document is damaged: \(error)",
        underlying: error)
    }
  }
}

/// The revisions after which the new records of each collection begin; see `CollectionRow.revised`.
package enum RecordRevisions {
  /// Makes new records begin after revisions that the store has given and does not know any more: it was replaced with
  /// a backup of an earlier state, or records were lost.
  package static func advance(in database: Database) throws {
    guard try database.has(RecordSchema.subject) else { return }
    try database.write { try advance($0.connection) }
  }

  /// By a random number, because one backup may be restored several times. It is above the number of revisions that
  /// an app gives, and low enough for a million restores.
  static func advance(_ connection: Connection) throws {
    let number = Int64.random(in: 1 << 24...1 << 28)
    try connection.run(
      """
      UPDATE record_collection SET revised = min(?2, ?1 + max(revised, (SELECT coalesce(max(revision), 0) FROM record
      WHERE record.id > record_collection.id << 40 AND record.id < (record_collection.id + 1) << 40)))
      """, .integer(number), .integer(RecordRow.maxStartingRevision))
    try connection.run(
      "UPDATE record_dropped SET revised = min(?2, ?1 + revised)", .integer(number),
      .integer(RecordRow.maxStartingRevision))
  }
}
