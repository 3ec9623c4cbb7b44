import SatchelStorage

/// How the records of a collection stand to their master copies.
struct RecordStatusReader {
  private let connection: Connection
  private let collection: Int64
  private let isSynchronised: Bool

  init(_ connection: Connection, _ row: CollectionRow) {
    self.connection = connection
    collection = row.id
    isSynchronised = row.isSynchronised
  }

  func status(_ key: UnsafeRawBufferPointer) throws -> RecordSyncStatus {
    guard isSynchronised else { return .local }
    let found = try connection.first(
      "SELECT conflict_etag IS NOT NULL, pending IS NOT NULL FROM record_sync WHERE collection = ? AND key = ?",
      .integer(collection), .textBytes(key)
    ) { $0.flag(0) ? RecordSyncStatus.conflict : $0.flag(1) ? .pending : .synced }
    // Without a row it was never agreed on.
    return found ?? .pending
  }
}
