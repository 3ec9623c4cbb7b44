import SatchelCore
import SatchelRemote
import SatchelStorage

/// A cache of the object stores that are known to support conditional writes, because a probe costs several
/// requests.
///
/// A success is stored in the satchel file if the object store has an identity, otherwise in memory for the
/// lifetime of the instance. Failures are not cached.
package struct ConditionProbeCache: Sendable {
  /// The validity of a success in milliseconds (30 days): a store may be replaced by another at the same
  /// address.
  package static let validity: Int64 = 30 * 24 * 60 * 60 * 1000

  private struct Known {
    weak var store: AnyObject?
    var user: UserID
  }

  /// The stores without an identity that passed.
  private static let inMemory = Locked<[Known]>([])

  private let database: Database?

  /// - Parameter database: the satchel file in which successes are stored; nil for memory only
  package init(_ database: Database?) { self.database = database }

  /// Checks that a store supports conditional writes, and probes it if that is unknown. Must not be called in
  /// a transaction.
  ///
  /// - Parameters:
  ///   - wrapper: the store that receives the requests: the store itself, or a wrapper around it
  ///   - user: the user to whose objects a success applies
  ///   - prefix: the prefix of the probe's object
  /// - Throws: `SatchelError` (`invalid`) when the store does not support conditional writes, `SatchelError`
  ///   of the satchel file, and `ObjectStoreError` of the probe
  package func check(
    _ store: any ObjectStore, through wrapper: any ObjectStore, for user: UserID, under prefix: ObjectPrefix,
    retry: Retry = Retry(), cancellation: Cancellation = .never
  ) throws {
    if try isKnown(store, user) { return }
    let verdict = try ConditionProbe().probe(
      wrapper, under: prefix, retry: retry, cancellation: cancellation)
    if case .unsupported(let reason) = verdict {
      throw SatchelError(
        .invalid,
        "the object store has no conditional writes, so devices could overwrite each other's changes: \(reason)"
      )
    }
    try remember(store, user)
  }

  /// Forgets all object stores, with the users that they were probed for.
  package static func forgetAll(_ connection: Connection, of database: Database) throws {
    if try database.has(RemoteSchema.subject) { try connection.run("DELETE FROM remote_probe") }
  }

  // MARK: Storage

  private func isKnown(_ store: any ObjectStore, _ user: UserID) throws -> Bool {
    guard store.identity != nil, let database else {
      let object = Self.object(store)
      return Self.inMemory.withLock { inMemory in
        inMemory.removeAll { $0.store == nil }
        return inMemory.contains { $0.store === object && $0.user == user }
      }
    }
    guard try database.prepare(RemoteSchema.subject) else { return false }
    return try database.read { try isStored(store, user, in: $0) }
  }

  /// Whether a valid success is stored in the satchel file, which must have the table.
  func isStored(_ store: any ObjectStore, _ user: UserID, in connection: Connection) throws -> Bool {
    guard let identity = store.identity, let database else { return false }
    let now = database.clock.now()
    let passed = try connection.numberIfAny(
      "SELECT passed FROM remote_probe WHERE remote = ? AND user = ?", .text(identity), .text(user.text))
    // A time in the future was written with a wrong clock.
    guard let passed, passed >= 0, passed <= now else { return false }
    return now - passed < Self.validity
  }

  private func remember(_ store: any ObjectStore, _ user: UserID) throws {
    guard let identity = store.identity, let database else {
      // Only class instances can be identified.
      guard let object = Self.object(store) else { return }
      Self.inMemory.withLock { $0.append(Known(store: object, user: user)) }
      return
    }
    guard !database.options.isReadOnly else { return }
    try database.write { transaction in
      try transaction.connection.run(
        "INSERT OR REPLACE INTO remote_probe(remote, user, passed) VALUES(?, ?, ?)", .text(identity),
        .text(user.text), .integer(transaction.now))
    }
  }

  private static func object(_ store: any ObjectStore) -> AnyObject? {
    type(of: store) is AnyClass ? store as AnyObject : nil
  }
}

/// The tables about object stores in a satchel file.
package enum RemoteSchema {
  package static let subject = SubjectSchema(
    name: "remotes", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(times: ["remote_probe.passed": .stamp]))

  private static let version1 = """
    -- The object stores that passed the probe for conditional writes: the store's identity, the user below whose
    -- keys it was probed, and its time (Unix milliseconds).
    CREATE TABLE remote_probe(
      remote TEXT NOT NULL,
      user TEXT NOT NULL,
      passed INTEGER NOT NULL,
      PRIMARY KEY(remote, user)
    ) STRICT, WITHOUT ROWID;
    """
}
