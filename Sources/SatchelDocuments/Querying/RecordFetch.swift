import SatchelCore
import SatchelStorage
import SatchelSync

/// Reads records by row, or all of a collection.
struct RecordFetch {
  private let connection: Connection
  private let row: CollectionState
  private let status: RecordStatusReader
  private let isRelated: Bool

  /// - Parameters:
  ///   - store: required to read sensitive fields
  ///   - isRelated: whether the records are read while another fetch reads one
  init(
    _ connection: Connection, _ row: CollectionState, store: RecordStore? = nil, isRelated: Bool = false
  ) {
    self.isRelated = isRelated
    self.connection = connection
    self.row = row
    status = RecordStatusReader(connection, row, store: store)
  }

  /// Sets the reader of the related records that are returned with each record.
  func include(_ reader: RelatedRecordReader) { status.related = reader }

  /// Reads one record; returns nil when it does not exist, or has another id than `key`. One that is looked up by its id
  /// does not exist any more when it has expired.
  func one<Result>(
    _ record: Int64, of key: UnsafeRawBufferPointer? = nil, _ body: (borrowing Candidate) throws -> Result
  ) throws -> Result? {
    // A statement of its own: that of the record that refers to this one has not ended.
    let statement =
      isRelated
      ? try connection.prepared(
        "SELECT id, key, revision, created, modified, body, is_sealed FROM record AS related WHERE id = ?")
      : try connection.prepared(
        "SELECT id, key, revision, created, modified, body, is_sealed FROM record WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(record), at: 1)
    guard try statement.step() else { return nil }
    guard let key else { return try body(try Candidate(statement, status)) }
    if statement.bytes(1).order(against: key) != 0 { return nil }
    let candidate = try Candidate(statement, status)
    if let expiry = try row.rules.expiry, let now = status.now, try expiry.isExpired(candidate, at: now) {
      return nil
    }
    return try body(candidate)
  }

  /// Visits all records in insertion order, until `visit` returns false.
  ///
  /// - Parameter after: a row, after which the first one is
  func all(after: Int64? = nil, _ visit: (borrowing Candidate) throws -> Bool) throws {
    let base = RecordRow.base(of: row.id)
    let statement = try connection.prepared(
      """
      SELECT id, key, revision, created, modified, body, is_sealed FROM record WHERE id > ? AND id < ? ORDER BY id
      """)
    defer { statement.reset() }
    try statement.bind(.integer(max(base, after ?? base)), at: 1)
    try statement.bind(.integer(base + row.numbers.next), at: 2)
    while try statement.step() {
      guard try visit(try Candidate(statement, status)) else { return }
    }
  }
}

/// Reads the sync status of a collection's records, and opens their sensitive fields, in one snapshot.
final class RecordStatusReader {
  private let connection: Connection
  private let row: CollectionState
  /// Created when a status is first read.
  private lazy var reader = Result { try SyncStatusReader(connection, collection: row.name) }

  private let store: RecordStore?
  /// Nil where the query includes no related records.
  var related: RelatedRecordReader?

  init(_ connection: Connection, _ row: CollectionState, store: RecordStore?) {
    self.connection = connection
    self.row = row
    self.store = store
  }

  /// Opens a document whose row is marked as sealed.
  func opened(_ document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> [UInt8] {
    guard let store else { throw SatchelError(.internal, "\(row.name): its sensitive fields are not opened") }
    return try row.rules.opened(document, key, by: store.database.keyring.keys)
  }

  /// The time; nil where nothing expires.
  var now: Int64? { store?.database.clock.now() }

  func status(_ key: UnsafeRawBufferPointer) throws -> SyncStatus {
    guard row.isBound else { return .local }
    // A record without an entry in the sync log is pending.
    return try reader.get().status(key) ?? .pending
  }
}
