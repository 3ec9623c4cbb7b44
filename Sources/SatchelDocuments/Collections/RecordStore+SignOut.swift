import SatchelCore
import SatchelStorage

/// Signing out: the records are the user's, the declarations of their collections are the app's.
extension RecordStore {
  /// The number of records of synchronized collections, none of which was sent while the store is not bound.
  package func countForSync(_ connection: Connection) throws -> Int64 {
    try RecordSyncClient(self).collections(connection).reduce(0) { sum, name in
      sum + (try state(named: name, connection)?.count(connection) ?? 0)
    }
  }

  /// Removes all records, with their indexes and conflicts, as a part of signing out; none of it is a deletion that is
  /// synchronized. Declarations and mirrors stay, and the numbers of rows are not used again.
  package func signOut(in transaction: Transaction) throws {
    guard try database.has(RecordSchema.subject) else { return }
    let connection = transaction.connection
    var collections: [(id: Int64, name: String)] = []
    try connection.each("SELECT id, name FROM record_collection WHERE id > 0 ORDER BY id") {
      collections.append((try $0.integer(0, in: RecordRow.collections), $0.text(1)))
    }
    for (id, _) in collections {
      guard let row = try CollectionState.read(id, connection) else { continue }
      try connection.run(
        """
        UPDATE record_collection SET count = 0, next = ?1, indexed_through = ?1 - 1, sealed_by = NULL, revised =
        min(?2, max(revised, (SELECT coalesce(max(revision), 0) FROM record WHERE record.id > ?3 AND record.id < ?4)))
        WHERE id = ?5
        """, .integer(max(row.numbers.next, 1)), .integer(RecordRow.maxStartingRevision),
        .integer(RecordRow.base(of: id)), .integer(RecordRow.base(of: id + 1)), .integer(id))
    }
    for sql: StaticString in [
      "DELETE FROM record WHERE id >= 1 << 40", "DELETE FROM record_key", "DELETE FROM record_value",
      "DELETE FROM record_reference", "DELETE FROM record_kept",
    ] {
      try connection.run(sql)
    }
    try RecordSearches.removeAll(connection)
    try ConflictLog(connection).removeAll(.records)
    try work(in: transaction).assets()?.removeReferences(
      of: .record, rows: RecordRow.base(of: 1)...Int64.max, now: transaction.now)
    try keepKeysOfReserved(connection)
    let names = collections.map(\.name)
    if !names.isEmpty { transaction.note(subject: .records, keys: names) }
  }

  /// Writes the index of ids of the reserved collection again, whose documents are not removed here.
  private func keepKeysOfReserved(_ connection: Connection) throws {
    let source = RecordIDs(collection: ReservedCollection.state.id)
    var entries: [(hash: Int64, row: Int64)] = []
    let (floor, _) = try source.extent(connection)
    try source.scan(connection, from: source.start, through: floor) { entries.append(($0, $1)) }
    entries = entries.ordered { ($0.hash, $0.row) < ($1.hash, $1.row) }
    try RecordIDs.keys.add(entries, connection)
  }

  /// Forgets what the handles know of records that signing out has removed, and writes the files of their mirrors.
  ///
  /// - Throws: the first error of a mirror, after all were tried
  package func didSignOut() throws {
    forgetAll()
    var failure: (any Error)?
    for mirror in allMirrors {
      do {
        try updateMirror(mirror)
      } catch {
        failure = failure ?? (error as? EditedMirror)?.error ?? error
      }
    }
    if let failure { throw failure }
  }
}
