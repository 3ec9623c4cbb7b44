import SatchelJSON
import SatchelStorage

/// The synchronization status of a store's records and state. Photo catalogues have their own status.
public struct StoreSyncStatus: Sendable, Equatable, Codable, JSONConvertible {
  /// The identity of the remote that the store is bound to; nil for a store that was never synchronized, or was detached.
  public var remote: String?
  /// The user that it is bound to.
  public var user: String?
  /// The number of saved changes of records and state that are not uploaded yet.
  public var pending: Int
  /// When records and state were last synchronized completely, in Unix milliseconds.
  public var lastSync: Int64?
  /// The user whom the content belongs to, also after `detach`; nil for that of a guest.
  public var owner: String?

  public init(
    remote: String? = nil, user: String? = nil, pending: Int = 0, lastSync: Int64? = nil, owner: String? = nil
  ) {
    (self.remote, self.user, self.pending, self.lastSync) = (remote, user, pending, lastSync)
    self.owner = owner
  }

  enum CodingKeys: String, CodingKey {
    case remote
    case user
    case pending
    case lastSync = "last_sync"
    case owner
  }

  public var json: JSONValue {
    [
      "remote": remote.map { .string($0) } ?? .null, "user": user.map { .string($0) } ?? .null,
      "pending": .int(Int64(pending)), "last_sync": lastSync.map { .int($0) } ?? .null,
      "owner": owner.map { .string($0) } ?? .null,
    ]
  }
}

extension StoreSyncStatus {
  package init(_ database: Database) throws {
    self.init()
    guard try database.has(SyncLogSchema.subject) else { return }
    try database.read { connection in
      let found = try connection.first(
        """
        SELECT remote, user, synced, (SELECT count(*) FROM sync_entry WHERE pending IS NOT NULL) FROM sync_log
        """
      ) { row in
        StoreSyncStatus(
          remote: row.text(0), user: row.text(1), pending: Int(try row.integer(3)),
          lastSync: try row.integerIfAny(2, in: StoredRange.time))
      }
      if let found { self = found }
      owner = try SyncLogTables.owner(connection)?.user
    }
  }
}
