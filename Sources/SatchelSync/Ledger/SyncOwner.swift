import SatchelCore
import SatchelStorage

/// The choice for content that a store has before its first sync as a user.
public enum FirstSync: String, Sendable, CaseIterable {
  /// It becomes that user's, also where it is another user's.
  case upload
  /// It is removed from the store, as by signing out; what was never sent is lost.
  case discard
}

/// The choice for changes that were never sent, when a user signs out.
public enum UnsentChanges: String, Sendable, CaseIterable {
  case refuse
  case discard
}

/// The user of one remote whom content belongs to.
package struct SyncOwner: Sendable, Equatable {
  /// The identity of the remote; nil for one that has none.
  package var remote: String?
  package var user: String

  package init(remote: String?, user: String) {
    self.remote = remote
    self.user = user
  }

  /// Whether content of this owner may be sent to another one without asking. A remote without an identity may be any.
  package func isSame(as other: SyncOwner) -> Bool {
    user == other.user && (remote == nil || other.remote == nil || remote == other.remote)
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

/// Signing out.
extension SyncLogTables {
  /// Completes what binding began: only then all changes that were never sent are known.
  package func finishBinding() throws {
    guard try SyncTracker.isBound(database) else { return }
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
    guard try database.has(named: SyncLogSchema.name) else { return false }
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
