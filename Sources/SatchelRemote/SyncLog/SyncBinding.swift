import SatchelStorage

/// The remote and the user that a store is synchronized with.
package struct SyncBinding: Equatable, Sendable {
  /// The identity of the remote.
  package var remote: String
  package var user: String
  /// The number of local changes that are not uploaded yet.
  package var pending: Int

  /// Reads the binding; nil for a store that was never synchronized, or was detached.
  ///
  /// - Throws: `.damaged`, `.closed`, `.io`
  package init?(_ database: Database) throws {
    guard try database.has(SyncLogSchema.subject) else { return nil }
    let found = try database.read { connection in
      try connection.first(
        "SELECT remote, user, (SELECT count(*) FROM sync_entry WHERE pending IS NOT NULL) FROM sync_log"
      ) { (remote: $0.text(0), user: $0.text(1), pending: Int(try $0.integer(2))) }
    }
    guard let found else { return nil }
    (remote, user, pending) = found
  }
}
