import SatchelCore
import SatchelRemote
import SatchelStorage

/// The owner of the content, and signing out.
extension SyncLogTables {
  // MARK: Owner

  /// Returns whether the store is bound to a remote and a user.
  ///
  /// - Parameter first: what happens to content of another user
  /// - Throws: `SatchelError` (`foreign`) when its content belongs to another remote or user
  @discardableResult
  package func checkBinding(remote: String, user: UserID, first: FirstSync? = nil) throws -> Bool {
    try checkBinding(to: SyncOwner(remote: remote, user: user.text), first: first)
  }

  func checkBinding(to requested: SyncOwner, first: FirstSync?) throws -> Bool {
    guard try database.has(SyncLogSchema.subject) else { return false }
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
  private static func bound(_ connection: Connection) throws -> SyncOwner? {
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
    guard try database.has(SyncLogSchema.subject) else { return nil }
    return try database.read { try Self.owner($0) }
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

  /// Whether no sync as the user of the log was complete yet.
  package func isFirst() throws -> Bool {
    try database.read { try $0.number("SELECT count(*) FROM sync_log WHERE synced IS NOT NULL") == 0 }
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
    ] {
      try connection.run(sql)
    }
  }

  // MARK: Signing out

  /// Completes what binding began: only then all changes that were never sent are known.
  package func finishBinding() throws {
    guard try SyncTracking.isBound(database), try state().phase == .bind else { return }
    while try continuePhase() {}
  }

  /// The number of changes that were never sent; nil for a store that is not bound to a sync log.
  package static func unsent(_ connection: Connection) throws -> Int64? {
    guard try bound(connection) != nil else { return nil }
    return try connection.number("SELECT count(*) FROM sync_entry WHERE pending IS NOT NULL")
  }

  /// Unbinds the store and removes its owner, as a part of signing out. The bytes of what was removed are left in the
  /// file until `finishSigningOut`.
  package static func signOut(in transaction: Transaction) throws {
    let connection = transaction.connection
    try unbind(connection)
    // The name of the writer could be that of content which is no longer here.
    try renameWriter(connection)
    try connection.run("UPDATE sync_writer SET replaced = NULL")
    try connection.run("INSERT OR REPLACE INTO sync_owner(id, phase) VALUES(1, 'erase')")
  }

  /// Whether the bytes of a user who signed out may be left in the file.
  package func isSigningOut() throws -> Bool {
    guard try database.has(SyncLogSchema.subject) else { return false }
    return try database.read { try $0.number("SELECT count(*) FROM sync_owner WHERE phase IS NOT NULL") > 0 }
  }

  /// Removes the bytes of what was deleted from the file and its WAL. Any handle of any process can continue it.
  ///
  /// - Throws: `SatchelError` `.busy` while another handle reads or writes for too long, `.full`, `.io`
  package func finishSigningOut() throws {
    guard try isSigningOut() else { return }
    try database.erase()
    try database.write { transaction in
      try transaction.connection.run("UPDATE sync_owner SET phase = NULL")
      try transaction.connection.run("DELETE FROM sync_owner WHERE user IS NULL")
    }
  }
}

extension SyncOwner {
  /// The error for content that is about to be given to another user.
  package func refusal(of content: String) -> SatchelError {
    let place = remote.map { " of \($0)" } ?? ""
    return SatchelError(
      .foreign,
      "\(content) belongs to \"\(user)\"\(place), and is not sent to another user or remote: sign_out ends that "
        + "user's session; or begin with first=\"upload\", which sends it, or first=\"discard\", which removes it"
    )
  }
}
