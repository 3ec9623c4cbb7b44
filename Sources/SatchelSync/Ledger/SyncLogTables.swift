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
    if try checkBinding(remote: remote, user: user, first: first) { return }
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
    guard try database.has(named: SyncLogSchema.name) else { return }
    // For a large log this is a long transaction, as deleting a collection is.
    try database.write { try Self.unbind($0.connection) }
  }

  /// Gives the store a new writer name, because it is a copy: under the old name, both stores could use the
  /// same numbers.
  package static func renameWriter(in database: Database) throws {
    guard try database.has(named: SyncLogSchema.name) else { return }
    try database.write { try renameWriter($0.connection) }
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

  static func writer(_ connection: Connection) throws -> String { try latest(connection).name }

  /// The store's name among the writers, and the number of its latest change; empty and 0 before it was bound.
  static func latest(_ connection: Connection) throws -> (name: String, sequence: Int64) {
    try connection.first("SELECT writer, sequence FROM sync_writer") {
      (name: $0.text(0), sequence: try $0.integer(1, in: 0...SyncEnvelope.numbers.upperBound))
    } ?? (name: "", sequence: 0)
  }

  static func newWriter() -> String { HexadecimalName.random(digits: 32) }
}

extension SyncLogTables {
  // MARK: Owner

  /// The state of the tables before a sync begins.
  package struct Opening: Sendable {
    /// Whether the store is bound to the remote and the user of the sync.
    package var isBound = false
    /// Whether the file may be a copy, of the file that the name of the writer belongs to.
    package var isCopy = false
    /// Whether no sync as the user of the log was complete yet.
    package var isFirst = true
    /// Whether the bytes of a user who signed out may be left in the file.
    package var isSigningOut = false
    /// The random id of the directory that is the remote.
    package var remoteID: String?

    package init() {}
  }

  /// Reads it in one transaction, and whether the remote is known to support conditional writes.
  ///
  /// - Parameter first: what happens to content of another user
  /// - Throws: `SatchelError` (`foreign`) when the content belongs to another remote or user
  package func opening(_ session: SyncSession, remote: String, first: FirstSync?) throws -> Opening {
    guard try database.has(named: SyncLogSchema.name) else { return Opening() }
    let requested = SyncOwner(remote: remote, user: session.user.text)
    let hasProbes = try database.has(RemoteSchema.subject)
    return try database.read { connection in
      if hasProbes { try session.recallProbe(connection) }
      let isBound = try Self.isBound(connection, to: requested, first: first)
      let found = try connection.first(
        """
        SELECT EXISTS(SELECT 1 FROM sync_log WHERE synced IS NOT NULL),
        EXISTS(SELECT 1 FROM sync_owner WHERE phase IS NOT NULL), (SELECT file FROM sync_writer),
        (SELECT remote_id FROM sync_owner)
        """
      ) { row in
        var opening = Opening()
        opening.isBound = isBound
        opening.isFirst = !isBound || !row.flag(0)
        opening.isSigningOut = row.flag(1)
        opening.isCopy = try row.integerIfAny(2, in: StoredRange.any) != database.fileNumber
        opening.remoteID = row.textIfAny(3)
        return opening
      }
      return found ?? Opening()
    }
  }

  /// Returns whether the store is bound to a remote and a user.
  ///
  /// - Parameter first: what happens to content of another user
  /// - Throws: `SatchelError` (`foreign`) when its content belongs to another remote or user
  @discardableResult
  package func checkBinding(remote: String, user: UserID, first: FirstSync? = nil) throws -> Bool {
    guard try database.has(named: SyncLogSchema.name) else { return false }
    let requested = SyncOwner(remote: remote, user: user.text)
    return try database.read { try Self.isBound($0, to: requested, first: first) }
  }

  static func isBound(
    _ connection: Connection, to requested: SyncOwner, first: FirstSync?
  ) throws -> Bool {
    if let bound = try bound(connection), bound == requested { return true }
    if first != nil { return false }
    let owner = try owner(connection)
    if let owner, owner != requested { throw owner.refusal(of: "the store") }
    return false
  }

  /// Ends a sync whose user another process has signed out.
  func checkBinding(of state: SyncLogState) throws {
    guard let binding, binding != SyncOwner(remote: state.remote, user: state.user) else { return }
    throw SatchelError(
      .foreign, "the store was bound to another user while \"\(binding.user)\" was being synchronized")
  }

  /// The remote and the user of the sync log.
  static func bound(_ connection: Connection) throws -> SyncOwner? {
    try connection.first("SELECT remote, user FROM sync_log") {
      SyncOwner(remote: $0.text(0), user: $0.text(1))
    }
  }

  /// The owner of the content; nil for that of a guest.
  package static func owner(_ connection: Connection) throws -> SyncOwner? {
    let owner = try connection.first("SELECT remote, user FROM sync_owner") { row in
      row.textIfAny(1).map { SyncOwner(remote: row.textIfAny(0), user: $0) }
    }
    return owner ?? nil
  }

  /// The owner of the content; nil for that of a guest.
  package func owner() throws -> SyncOwner? {
    guard try database.has(named: SyncLogSchema.name) else { return nil }
    return try database.read { try Self.owner($0) }
  }

  /// The remote and the user that the store is bound to, or was last bound to; nil for a store that was never synchronized.
  /// A sync of a store without content, with a remote without any, binds it and has no owner yet.
  package func lastBound() throws -> SyncOwner? {
    guard try database.has(named: SyncLogSchema.name) else { return nil }
    return try database.read { try Self.bound($0) ?? Self.owner($0) }
  }

  /// Makes the user of the sync log the owner: with the first head that was read or is about to be written, the
  /// content of both sides meets. A binding that never reached its remote makes no owner.
  static func claim(_ connection: Connection) throws {
    try connection.run(
      """
      INSERT INTO sync_owner(id, remote, user) SELECT 1, l.remote, l.user FROM sync_log l
      WHERE NOT EXISTS(SELECT 1 FROM sync_owner o WHERE o.remote = l.remote AND o.user = l.user)
      ON CONFLICT(id) DO UPDATE SET remote = excluded.remote, user = excluded.user, remote_id = NULL, key = NULL
      """)
  }

  /// Ends the binding. The owner keeps the name of the log's key: a log that loses its key while no store is bound to it
  /// is a stranger's, too.
  static func unbind(_ connection: Connection) throws {
    for sql: StaticString in [
      """
      UPDATE sync_owner SET key = l.key FROM sync_log l
      WHERE l.remote = sync_owner.remote AND l.user = sync_owner.user
      """,
      "DELETE FROM sync_log", "DELETE FROM sync_entry", "DELETE FROM sync_collection",
      "DELETE FROM sync_asset", "DELETE FROM sync_asset_reference",
    ] {
      try connection.run(sql)
    }
  }

  // MARK: Directory

  /// Refuses a directory that is not the one the store was synchronized with: another disk may be mounted at its path,
  /// or none.
  ///
  /// - Parameters:
  ///   - known: the id that it had; nil where it had none
  ///   - recreates: whether an empty one is written again
  /// - Throws: `SatchelError` `.unavailable` for one that is absent or empty, `.foreign` for another one
  package static func check(_ remote: any ObjectStore, known: String?, recreates: Bool) throws {
    guard let remote = remote as? any PlacedStore, let known else { return }
    let identity = remote.identity ?? "the remote"
    switch try remote.place() {
    case .named(known): return
    case .named:
      throw SatchelError(
        .foreign, "\(identity) is another directory than the one that was synchronized with: its id differs")
    case .unnamed: remote.setID(known)
    case .absent, .empty:
      guard recreates else {
        throw SatchelError(
          .unavailable,
          "the remote is empty: \(identity) has no files, although this device has synchronized with it before; "
            + "mount its disk, or, if it really lost everything, recreate sends everything again")
      }
      remote.setID(known)
    }
  }

  /// Records that a sync was complete: its time, and the directory that the store was synchronized with.
  package func noteSync(with remote: any ObjectStore) throws {
    let id = try remote.directoryID()
    try database.write { transaction in
      try transaction.connection.run("UPDATE sync_log SET synced = ?", .integer(transaction.now))
      guard let id else { return }
      try transaction.connection.run(
        "UPDATE sync_owner SET remote_id = ?1 WHERE remote_id IS NOT ?1", .text(id))
    }
  }
}
