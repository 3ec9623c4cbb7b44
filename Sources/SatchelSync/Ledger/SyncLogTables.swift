import SatchelCore
import SatchelRemote
import SatchelStorage

/// The tables of a store's sync log, and the subjects whose content it carries.
package struct SyncLogTables: Sendable {
  let database: Database
  let client: any SyncLogClient
  let sizes: SyncSizes
  /// The remote and the user of a sync; nil outside of one.
  package var binding: SyncOwner?
  /// The keys of a sync, if the sync log is encrypted.
  var keys: SyncLogKey?
  var digestKey: HMAC? { keys?.digest }
  package var documents: SyncDocuments { client.document }

  package init(_ database: Database, client: any SyncLogClient) {
    self.init(database, client: client, sizes: SyncSizes())
  }

  init(_ database: Database, client: any SyncLogClient, sizes: SyncSizes) {
    self.database = database
    self.client = client
    self.sizes = sizes
  }

  // MARK: Binding

  /// Binds the store to a remote and a user; local content becomes pending.
  ///
  /// - Parameter first: what happens to content of another user
  /// - Throws: `SatchelError` (`foreign`) when it belongs to another remote or user
  package func bind(remote: String, user: UserID, first: FirstSync? = nil) throws {
    try database.prepare(SyncLogSchema.subject)
    try recognizeCopy()
    let owner = SyncOwner(remote: remote, user: user.text)
    if try checkBinding(to: owner, first: first) { return }
    try database.write { transaction in
      let connection = transaction.connection
      if try Self.isBound(connection, to: owner, first: first) { return }
      // That of another user, or of one whose remote was never reached.
      try Self.unbind(connection)
      try connection.run(
        "INSERT OR IGNORE INTO sync_writer(id, writer, file, sequence, stamp) VALUES(1, ?, ?, 0, 0)",
        .text(Self.newWriter()), Binding(database.fileNumber))
      try connection.run(
        """
        INSERT INTO sync_log(id, remote, user, digest, count, bytes, generation, next_generation, phase, compactions,
        key) VALUES(1, ?1, ?2, ?3, 0, 0, 1, 2, ?4, 0, (SELECT key FROM sync_owner WHERE remote = ?1 AND user = ?2))
        """, .text(remote), .text(user.text), .text(SyncDigest().text),
        .text(SyncLogState.Phase.bind.rawValue))
    }
  }

  /// Gives the store a new writer name when its file is a copy: under the old name, both stores would use the same
  /// numbers. A store on another file system, or with a file that was rebuilt, gets one as well.
  private func recognizeCopy() throws {
    guard let file = database.fileNumber else { return }
    func known(_ connection: Connection) throws -> Int64?? {
      try connection.first("SELECT file FROM sync_writer") { try $0.integerIfAny(0, in: StoredRange.any) }
    }
    if try database.read(known) == file { return }
    try database.write { transaction in
      let known = try known(transaction.connection) ?? nil
      if let known, known != file { try Self.replaceWriter(transaction.connection) }
      try transaction.connection.run("UPDATE sync_writer SET file = ?", .integer(file))
    }
  }

  /// Ends the binding. The local content and its owner stay; the writer's name and sequence stay in use.
  package func detach() throws {
    guard try database.has(SyncLogSchema.subject) else { return }
    // For a large log this is a long transaction, as deleting a collection is.
    try database.write { try Self.unbind($0.connection) }
  }

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

  /// Gives the store a new writer name, because it is a copy: under the old name, both stores could use the
  /// same numbers.
  package func renameWriter() throws { try Self.renameWriter(in: database) }

  package static func renameWriter(in database: Database) throws {
    guard try database.has(SyncLogSchema.subject) else { return }
    try database.write { try renameWriter($0.connection) }
  }

  /// Makes the tables usable after rows of any were lost: the next sync reads the whole log, and compares it with the
  /// local content. Entries that were synced and are missing locally are applied again, and not treated as
  /// deletions.
  package func repair() throws {
    guard try database.has(SyncLogSchema.subject) else { return }
    try database.write { transaction in
      let connection = transaction.connection
      guard try connection.number("SELECT count(*) FROM sync_log") > 0 else {
        for sql: StaticString in ["DELETE FROM sync_entry", "DELETE FROM sync_collection"] {
          try connection.run(sql)
        }
        return
      }
      try connection.run(
        "INSERT OR IGNORE INTO sync_writer(id, writer, sequence, stamp) VALUES(1, ?, 1 << 40, 0)",
        .text(Self.newWriter()))
      try Self.renameWriter(connection)
      try connection.run(
        """
        UPDATE sync_log SET epoch = NULL, log = NULL, number = NULL, etag = NULL, head = NULL, phase = NULL,
        previous = NULL, pending_upload = NULL, pending_upload_base = NULL, pending_upload_deletes = NULL,
        pending_upload_etag = NULL
        """)
      try connection.run(
        "DELETE FROM sync_entry WHERE generation <> (SELECT generation FROM sync_log) OR key IS NULL")
      try connection.run("UPDATE sync_collection SET is_declared = 0")
      try connection.run(
        "UPDATE sync_entry SET in_flight_sequence = NULL, in_flight_number = NULL, in_flight_envelope = NULL")
      try forgetLost(connection)
    }
  }

  /// Deletes the sync state of content that no longer exists.
  private func forgetLost(_ connection: Connection) throws {
    let table = SyncRowTable(connection: connection)
    let ids = try table.ids(
      "SELECT id FROM sync_entry WHERE base IS NOT NULL AND pending IS NULL AND generation >= ? AND generation <= ?",
      with: .integer(0), .integer(Int64.max))
    for id in ids {
      guard let row = try? table.row(id), try !hasContent(row.key, connection) else { continue }
      try connection.run(
        "UPDATE sync_entry SET remote = coalesce(remote, base), base = NULL, undecided = 1 WHERE id = ?",
        .integer(id))
    }
  }

  private func hasContent(_ key: SyncKey, _ connection: Connection) throws -> Bool {
    do {
      return try client.content(of: key, isEncrypted: true, connection) != nil
    } catch let error as SatchelError where error.code == .invalid || error.code == .unauthorized {
      // The content exists, and cannot be sent: the encryption key is not set.
      return true
    } catch let error as SatchelError where error.code == .notFound {
      // State that was lost cannot be told from state that is no longer marked for synchronizing.
      return false
    }
  }

  static func renameWriter(_ connection: Connection) throws {
    try connection.run("UPDATE sync_writer SET writer = ?, file = NULL", .text(newWriter()))
  }

  /// Gives the store a new writer name, because it would use numbers again: its file is a copy, or the log has changes
  /// under its name that the store does not have, which was replaced by an earlier copy of itself.
  static func replaceWriter(_ connection: Connection) throws {
    try connection.run("UPDATE sync_writer SET replaced = writer, writer = ?", .text(newWriter()))
  }

  static func replacedWriter(_ connection: Connection) throws -> String? {
    try connection.first("SELECT replaced FROM sync_writer") { $0.isNull(0) ? nil : $0.text(0) } ?? nil
  }

  static func writer(_ connection: Connection) throws -> String {
    try connection.first("SELECT writer FROM sync_writer") { $0.text(0) } ?? ""
  }

  private static func newWriter() -> String { HexadecimalName.random(digits: 32) }

  /// Updates the tables to the declared collections: entries of newly declared ones become undecided, and
  /// their local content pending; entries of others stay unchanged. After a crash the next call completes it.
  package func reconcile() throws {
    guard try SyncTracking.isBound(database) else { return }
    // Until the store is closed, declaring a collection and setting the store's key apply waiting entries.
    if let keys { database.keyring.syncEntries = keys.entries }
    let (declared, known) = try database.read { (try client.collections($0), try Self.reconciled($0)) }
    for name in declared where !known.contains(name) {
      try begin(name)
      try mark(name, isDeclared: true)
    }
    for name in known.subtracting(declared) { try mark(name, isDeclared: false) }
  }

  /// The collections that were declared when they were last reconciled.
  static func reconciled(_ connection: Connection) throws -> Set<String> {
    var names: Set<String> = []
    try connection.each("SELECT name FROM sync_collection WHERE is_declared = 1") { names.insert($0.text(0)) }
    return names
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
    guard try SyncTracking.isBound(database) else { return [] }
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
