import SatchelCore
import SatchelStorage

/// The collections that are declared and synchronized.
extension SyncLogTables {
  /// Deletes the local sync state of a collection that is being dropped. Its entries stay, and are applied
  /// when it is declared again.
  ///
  /// - Throws: `SatchelError` (`conflict`) for changes that were never sent
  package static func drop(_ collection: String, discardsUnsent: Bool, in transaction: Transaction) throws {
    let connection = transaction.connection
    guard let id = try SyncRowTable(connection: connection).collection(collection) else { return }
    let unsent = try connection.number(
      "SELECT count(*) FROM sync_entry WHERE collection = ? AND pending IS NOT NULL", .integer(id))
    guard unsent == 0 || discardsUnsent else {
      throw SatchelError(
        .conflict, "\(collection): has \(unsent) changes that were never sent; synchronize, or discard them")
    }
    try connection.run("UPDATE sync_collection SET is_declared = 0 WHERE id = ?", .integer(id))
    try connection.run("DELETE FROM sync_entry WHERE collection = ? AND seq IS NULL", .integer(id))
    try connection.run(
      """
      UPDATE sync_entry SET remote = coalesce(remote, base), base = NULL, pending = NULL, in_flight_sequence = NULL,
      in_flight_number = NULL, in_flight_envelope = NULL, ancestors = NULL, undecided = NULL, conflict = NULL,
      attempts = 0, retry_at = NULL, error = NULL, error_code = NULL, deleted = NULL, revision = NULL, created = NULL
      WHERE collection = ?
      """, .integer(id))
  }

  /// Updates the tables to the declared collections: entries of newly declared ones become undecided, and
  /// their local content pending; entries of others stay unchanged. After a crash the next call completes it.
  package func reconcile() throws {
    guard try SyncTracker.isBound(database) else { return }
    // Until the store is closed, declaring a collection and setting the store's key apply waiting entries.
    if let keys { database.keyring.syncEntries = keys.entries }
    let (declared, known) = try database.read { (try client.collections($0), try Self.reconciled($0)) }
    for name in declared where !known.contains(name) {
      try begin(name)
      try mark(name, isDeclared: true)
    }
    for name in known.subtracting(declared) { try mark(name, isDeclared: false) }
  }

  private func mark(_ collection: String, isDeclared: Bool) throws {
    try database.write { transaction in
      let id = try SyncRowTable(connection: transaction.connection).makeCollection(collection)
      try transaction.connection.run(
        "UPDATE sync_collection SET is_declared = ? WHERE id = ?", .integer(isDeclared ? 1 : 0), .integer(id))
      // Declaring it again makes all of them undecided.
      if !isDeclared {
        try transaction.connection.run(
          "UPDATE sync_entry SET undecided = NULL WHERE collection = ? AND undecided IS NOT NULL",
          .integer(id))
      }
    }
  }

  /// The collections whose new entries are to be decided: those that are declared, and those that were when `reconcile`
  /// last ran, because one that is declared again before it runs next is not begun again.
  func declaredCollections(_ connection: Connection) throws -> Set<String> {
    try Self.reconciled(connection).union(client.collections(connection))
  }

  /// Makes the entries of a collection undecided, and its local content pending. The entries of a generation that another
  /// process is reading are among them.
  private func begin(_ collection: String) throws {
    var last: String? = ""
    while let first = last {
      last = try database.write { transaction in
        let connection = transaction.connection
        guard let id = try SyncRowTable(connection: connection).collection(collection),
          let generation = try SyncTracker.generations(connection)?.valid
        else { return nil }
        var keys: [String] = []
        try connection.each(
          "SELECT key FROM sync_entry WHERE collection = ? AND generation >= ? AND key > ? ORDER BY key LIMIT ?",
          .integer(id), .integer(generation), .text(first), .integer(Int64(sizes.rowsOfStep))
        ) { keys.append($0.text(0)) }
        guard let end = keys.last else { return nil }
        try RowOrder.check(end, after: first, of: "sync_entry")
        try connection.run(
          """
          UPDATE sync_entry SET undecided = 1 WHERE collection = ? AND generation >= ? AND key > ? AND key <= ?
          AND remote IS NOT NULL AND conflict IS NULL
          """, .integer(id), .integer(generation), .text(first), .text(end))
        return end
      }
    }
    try makePending(collection)
  }

  /// Makes the local content of a collection pending, where it was never synced.
  func makePending(_ collection: String) throws {
    var last: SyncIDs.Position?
    repeat {
      last = try database.write { transaction in
        let part = try client.ids(
          of: collection, after: last, limit: sizes.rowsOfStep, transaction.connection)
        guard let tracker = try SyncTracker(transaction) else { return nil }
        for id in part.ids { try tracker.noteUnknown(try SyncKey(collection, id)) }
        return part.end
      }
    } while last != nil
  }

  /// Names of collections, the number of their entries and the bytes of these.
  package func statistics() throws -> [(collection: String, entries: Int64, bytes: Int64)] {
    guard try SyncTracker.isBound(database) else { return [] }
    return try database.read { connection in
      var found: [(collection: String, entries: Int64, bytes: Int64)] = []
      try connection.each(
        """
        SELECT c.name, count(e.seq), coalesce(sum(e.size), 0) FROM sync_log l
        JOIN sync_entry e ON e.generation = l.generation JOIN sync_collection c ON c.id = e.collection
        GROUP BY c.name ORDER BY c.name
        """
      ) { found.append((collection: $0.text(0), entries: try $0.integer(1), bytes: try $0.integer(2))) }
      return found
    }
  }
}
