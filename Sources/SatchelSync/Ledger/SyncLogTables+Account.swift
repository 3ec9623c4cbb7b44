import SatchelCore
import SatchelRemote
import SatchelStorage

/// The owner of the content, and signing out.
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
    guard try database.has(SyncLogSchema.subject) else { return Opening() }
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
    var id: String?
    if let remote = remote as? any PlacedStore, case .named(let found) = try remote.place() { id = found }
    try database.write { transaction in
      try transaction.connection.run("UPDATE sync_log SET synced = ?", .integer(transaction.now))
      guard let id else { return }
      try transaction.connection.run(
        "UPDATE sync_owner SET remote_id = ?1 WHERE remote_id IS NOT ?1", .text(id))
    }
  }

  // MARK: Signing out

  /// Completes what binding began: only then all changes that were never sent are known.
  package func finishBinding() throws {
    guard try SyncTracking.isBound(database) else { return }
    var state = try state()
    if state.phase == .bind { while try continuePhase(&state) {} }
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
