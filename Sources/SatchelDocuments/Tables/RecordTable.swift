import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads and writes the rows of documents.
struct RecordTable {
  let connection: Connection

  struct Head {
    var revision: Int64
    var created: Int64
    var modified: Int64
    /// The document, if requested.
    var body: [UInt8] = []
  }

  func head(_ row: Int64, withBody: Bool) throws -> Head? {
    if withBody {
      return try connection.first(
        "SELECT revision, created, modified, body FROM record WHERE id = ?", .integer(row)
      ) {
        Head(
          revision: try $0.integer(0, in: RecordRow.revisions), created: try $0.integer(1),
          modified: try $0.integer(2), body: Array($0.bytes(3)))
      }
    }
    return try connection.first(
      "SELECT revision, created, modified FROM record WHERE id = ?", .integer(row)
    ) {
      Head(
        revision: try $0.integer(0, in: RecordRow.revisions), created: try $0.integer(1),
        modified: try $0.integer(2))
    }
  }

  /// Returns the id of a record; nil when it does not exist.
  func key(_ row: Int64) throws -> [UInt8]? {
    try connection.first("SELECT key FROM record WHERE id = ?", .integer(row)) { Array($0.bytes(0)) }
  }

  /// Returns a document as it is stored, and whether fields of it are sealed.
  func document(_ row: Int64) throws -> (body: [UInt8], isSealed: Bool)? {
    try connection.first("SELECT body, is_sealed FROM record WHERE id = ?", .integer(row)) {
      (Array($0.bytes(0)), $0.flag(1))
    }
  }

  /// Returns a document as it is stored.
  func body(_ row: Int64) throws -> [UInt8]? {
    try connection.first("SELECT body FROM record WHERE id = ?", .integer(row)) { Array($0.bytes(0)) }
  }

  func insert(
    _ row: Int64, _ key: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer, revision: Int64,
    created: Int64, modified: Int64, isSealed: Bool
  ) throws {
    let statement = try connection.prepared(
      "INSERT INTO record(id, key, revision, created, modified, body, is_sealed) VALUES(?, ?, ?, ?, ?, ?, ?)")
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    try statement.bind(.textBytes(key), at: 2)
    try statement.bind(.integer(revision), at: 3)
    try statement.bind(.integer(created), at: 4)
    try statement.bind(.integer(modified), at: 5)
    try statement.bind(.blob(body), at: 6)
    try statement.bind(.integer(isSealed ? 1 : 0), at: 7)
    _ = try statement.step()
  }

  func update(
    _ row: Int64, _ body: UnsafeRawBufferPointer, revision: Int64, modified: Int64, isSealed: Bool
  ) throws {
    let statement = try connection.prepared(
      "UPDATE record SET revision = ?, modified = ?, body = ?, is_sealed = ? WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(revision), at: 1)
    try statement.bind(.integer(modified), at: 2)
    try statement.bind(.blob(body), at: 3)
    try statement.bind(.integer(isSealed ? 1 : 0), at: 4)
    try statement.bind(.integer(row), at: 5)
    _ = try statement.step()
  }

  func setTimes(_ row: Int64, revision: Int64, created: Int64, modified: Int64) throws {
    try connection.run(
      "UPDATE record SET revision = ?, created = ?, modified = ? WHERE id = ?", .integer(revision),
      .integer(created), .integer(modified), .integer(row))
  }

  func delete(_ row: Int64) throws {
    try connection.run("DELETE FROM record WHERE id = ?", .integer(row))
  }
}

/// The source of the deferred index of one collection's ids: the tables `record` and `record_key`.
struct RecordIDs: DeferredIndexSource {
  typealias Key = UnsafeRawBufferPointer

  /// The blocks of all collections.
  static let keys = KeyBlocks(
    KeyBlocks.Statements(
      find: "SELECT first, entries FROM record_key WHERE first <= ? ORDER BY first DESC LIMIT 1",
      next: "SELECT first FROM record_key WHERE first > ? ORDER BY first LIMIT 1",
      put: "INSERT OR REPLACE INTO record_key(first, entries) VALUES(?, ?)",
      delete: "DELETE FROM record_key WHERE first = ?",
      all: "SELECT first, entries FROM record_key ORDER BY first"))

  let collection: Int64

  var start: Int64 { RecordRow.base(of: collection) }

  /// 64 bits of SHA-256, so that colliding ids cannot be constructed.
  func hash(_ key: UnsafeRawBufferPointer) -> Int64 {
    var hash = SHA256()
    withUnsafeBytes(of: collection.littleEndian) { hash.update($0) }
    hash.update(key)
    var digest: Int64 = 0
    withUnsafeMutableBytes(of: &digest) { hash.digest(into: $0) }
    return Int64(littleEndian: digest)
  }

  func extent(_ connection: Connection) throws -> (floor: Int64, newest: Int64) {
    let base = RecordRow.base(of: collection)
    let numbers = try connection.first(
      """
      SELECT indexed_through, next, (SELECT max(id) FROM record WHERE id > ?1 << 40 AND id < (?1 + 1) << 40)
      FROM record_collection WHERE id = ?1
      """, .integer(collection)
    ) {
      (try $0.integer(0, in: RecordRow.numbers), try $0.integer(1, in: RecordRow.numbers), $0.anyInteger(2))
    }
    guard let numbers else { return (base, base) }
    return (base + numbers.0, max(base + numbers.1 - 1, numbers.2))
  }

  func scan(
    _ connection: Connection, from floor: Int64, through newest: Int64, visit: (Int64, Int64) throws -> Void
  ) throws {
    try connection.each(
      "SELECT id, key FROM record WHERE id > ? AND id <= ? ORDER BY id", .integer(floor), .integer(newest)
    ) { try visit(hash($0.bytes(1)), $0.anyInteger(0)) }
  }

  func isRow(_ row: Int64, of key: UnsafeRawBufferPointer, _ connection: Connection) throws -> Bool {
    guard RecordRow.collection(of: row) == collection else { return false }
    let statement = try connection.prepared("SELECT key FROM record WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    return try statement.step() && statement.bytes(0).order(against: key) == 0
  }

  func present(_ connection: Connection, from floor: Int64, through newest: Int64) throws -> Set<Int64>? {
    // Nearly always all rows exist.
    let count = try connection.number(
      "SELECT count(*) FROM record WHERE id > ? AND id <= ?", .integer(floor), .integer(newest))
    if count == newest - floor { return nil }
    var rows: Set<Int64> = []
    try connection.each(
      "SELECT id FROM record WHERE id > ? AND id <= ?", .integer(floor), .integer(newest)
    ) { rows.insert($0.anyInteger(0)) }
    return rows
  }

  func setFloor(_ floor: Int64, in transaction: Transaction) throws {
    try transaction.connection.run(
      "UPDATE record_collection SET indexed_through = ? WHERE id = ?",
      .integer(floor - RecordRow.base(of: collection)), .integer(collection))
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

  static var rows: ClosedRange<Int64> { 1...(maxCollections + 1) << bits }

  static func base(of collection: Int64) -> Int64 { collection << bits }
  static func collection(of row: Int64) -> Int64 { row >> bits }
}

/// The revisions after which the new records of each collection begin; see `CollectionState.Numbers.revised`.
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
