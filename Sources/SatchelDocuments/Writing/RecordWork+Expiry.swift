import SatchelCore
import SatchelStorage

extension RecordWork {
  /// Finds a record that a write replaces, changes or deletes. One that has expired is deleted before, so that the write
  /// finds none.
  func findUnexpired(_ key: UnsafeRawBufferPointer, in collection: CollectionState) throws -> (
    row: Int64?, hash: Int64
  ) {
    let found = try find(key, in: collection)
    guard let row = found.row, try isExpired(row, in: collection) else { return found }
    var deletion = Deletion(self)
    try deletion.run([Deletion.Item(row: row, key: Array(key), collection: collection)]) { _, _, _ in }
    return (nil, found.hash)
  }

  func isExpired(_ row: Int64, in collection: CollectionState) throws -> Bool {
    guard let expiry = try collection.rules.expiry else { return false }
    return try RecordFetch(connection, collection).one(row) { try expiry.isExpired($0, at: now) } ?? false
  }

  /// The number of expired records that one transaction deletes.
  static let maxExpired = 100

  /// Deletes records that had expired at a time, those first that expired first.
  ///
  /// - Returns: the number of them; with `maxExpired` there may be more
  func deleteExpired(from collection: CollectionState, at time: Int64) throws -> Int {
    guard let expiry = try collection.rules.expiry, let index = expiry.index else { return 0 }
    var records: [Deletion.Item] = []
    try expiry.expired(at: time).bound { lower, upper in
      try connection.each(
        """
        SELECT record.id, record.key FROM record_value JOIN record ON record.id = record_value.record
        WHERE index_id = ? AND value >= ? AND value < ? ORDER BY value LIMIT ?
        """, .integer(index.id), .blob(lower), .blob(upper), .integer(Int64(Self.maxExpired))
      ) {
        records.append(
          Deletion.Item(row: $0.anyInteger(0), key: Array($0.bytes(1)), collection: collection))
      }
    }
    var deletion = Deletion(self)
    try deletion.run(records) { _, _, _ in }
    return records.count
  }

  /// Deletes some of the records that expired a day ago, once in each transaction: for processes that end before
  /// `ExpiryJob` does it. A clock that is ahead for less than a day deletes none early.
  func deleteLongExpired(from collection: CollectionState) throws {
    guard try collection.rules.expiry != nil, cleaned.insert(collection.id).inserted,
      // A reference that cannot be removed must not make the write fail.
      try CollectionRules.incoming(collection.id, connection).isEmpty
    else { return }
    _ = try deleteExpired(from: collection, at: now - StoreClock.tolerance)
  }
}
