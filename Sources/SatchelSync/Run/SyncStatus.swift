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
    guard try database.has(named: SyncLogSchema.name) else { return }
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

/// The state of a record, or of a part of the state, with respect to its remote copy.
public enum SyncStatus: String, Sendable, CaseIterable {
  /// The store is not synchronized, or the collection is declared not to be.
  case local
  /// It has changes to upload.
  case pending
  case synced
  /// A newer remote version is known, and cannot be applied yet.
  case waiting
  /// Both sides changed it, and the host has to decide.
  case conflict
}

/// Reads the status of the content of one collection in one snapshot of the store.
package struct SyncStatusReader {
  private let connection: Connection
  private let collection: Int64?
  private let generations: (valid: Int64, previous: Int64?)?

  /// The store must have the tables of the sync log.
  package init(_ connection: Connection, collection: String) throws {
    self.connection = connection
    generations = try SyncTracker.generations(connection)
    self.collection = try connection.numberIfAny(
      "SELECT id FROM sync_collection WHERE name = ? AND is_declared = 1", .text(collection))
  }

  /// Returns nil when the content has no sync state.
  ///
  /// - Parameter id: the id in UTF-8
  package func status(_ id: UnsafeRawBufferPointer) throws -> SyncStatus? {
    guard let generations, let collection else { return .local }
    for generation in [generations.previous, generations.valid].compactMap({ $0 }) {
      let found = try connection.first(
        """
        SELECT conflict IS NOT NULL, remote IS NOT NULL, pending IS NOT NULL, base IS NULL FROM sync_entry
        WHERE collection = ? AND key = ? AND generation = ?
        """, .integer(collection), .textBytes(id), .integer(generation)
      ) { row -> SyncStatus in
        if row.flag(0) { return .conflict }
        if row.flag(1) { return .waiting }
        return row.flag(2) || row.flag(3) ? .pending : .synced
      }
      if let found { return found }
    }
    return nil
  }
}
