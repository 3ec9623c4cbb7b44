import SatchelCore
import SatchelDocuments
import SatchelRemote
import SatchelSync
import SatchelStorage

/// Whom the rows of a catalogue belong to, and signing out.
extension PhotoCatalogue {
  /// Checks that a sync does not send the rows of one user to another, and prepares them as `first` says.
  ///
  /// - Throws: `SatchelError` (`foreign`) for rows of another user or remote
  func checkOwner(_ session: SyncSession, _ options: SyncOptions) throws {
    let requested = SyncOwner(remote: session.store.identity, user: session.user.text)
    let owner = try read(otherwise: nil) { connection, id in
      try CatalogueTable(connection: connection).owner(id)
    }
    if options.first == .upload, !options.isDryRun { try prepareReopening(session) }
    let isDiscarding = options.first == .discard && owner == nil
    guard isDiscarding || owner.map({ !$0.isSame(as: requested) }) ?? false else { return }
    guard let first = options.first else {
      if let owner { throw owner.refusal(of: "\(directory): the catalogue of photos") }
      return
    }
    if options.isDryRun {
      throw SatchelError(
        .invalid, "dry_run: synchronize the store for it, where photos belong to another user")
    }
    try write { transaction, id in
      switch first {
      case .upload:
        try detach(id, in: transaction)
        try CatalogueTable(connection: transaction.connection).disown(id)
      case .discard: try Self.signOut(id, of: directory, in: transaction)
      }
    }
  }

  /// Makes all rows local changes where the account was closed: the closed manifest must not delete them.
  private func prepareReopening(_ session: SyncSession) throws {
    let isBound = try read(otherwise: false) { connection, id in
      try CatalogueTable(connection: connection).row(id)?.remoteUUID != nil
    }
    let remote = try SyncRemote(session)
    guard isBound,
      case .object(let object)? = try remote.get(remote.manifestKey, limit: Int64(Manifest.maximumSize)),
      let manifest = try? Manifest(parsing: object.body), manifest.isClosed
    else { return }
    try write { transaction, id in try detach(id, in: transaction) }
  }

  /// Closes the manifest of a user whose account is deleted; without one there is nothing to close.
  package static func close(_ session: SyncSession) throws {
    let remote = try SyncRemote(session)
    let start = Clock.monotonic.now()
    var failures = 0
    while case .object(let object)? = try remote.get(remote.manifestKey, limit: Int64(Manifest.maximumSize)) {
      // One that cannot be read is replaced as a whole; a newer format is not.
      var manifest: Manifest
      do {
        manifest = try Manifest(parsing: object.body)
      } catch let error as SatchelError where error.code == .invalid {
        manifest = Manifest(directoryUUID: CatalogueTable.uuid())
      }
      if manifest.isClosed { return }
      let count = ManifestUpdate([]).manifest(
        replacing: manifest, uuid: manifest.directoryUUID, now: manifest.lastModified ?? 0, photos: [:])
      (manifest.lastModified, manifest.shardChecksums, manifest.photoCount) = (count.lastModified, [:], 0)
      manifest.isClosed = true
      let bytes = try manifest.serialized()
      do throws(ObjectStoreError) {
        _ = try remote.store.put(
          remote.manifestKey, bytes, condition: .ifMatch(object.etag),
          metadata: ObjectMetadata([SyncRemote.checksumName: Shard.checksum(bytes)]),
          cancellation: remote.cancellation)
        return
      } catch {
        switch error.reason {
        case .preconditionFailed, .unknownOutcome, .transient, .truncated, .notFound: break
        default: throw error
        }
        failures += 1
        try remote.pause(afterFailures: failures, since: start, error)
      }
    }
  }

  /// Refuses a directory that is not the one the catalogue was synchronized with.
  func checkPlace(of remote: any ObjectStore, recreates: Bool) throws {
    guard let remote = remote as? any PlacedStore, let known = try remoteID() else { return }
    try SyncLogTables.check(remote, known: known, recreates: recreates)
  }

  /// Remembers the directory that the catalogue was synchronized with.
  func notePlace(of remote: any ObjectStore) throws {
    guard let id = try remote.directoryID(), try remoteID() != id, !database.options.isReadOnly else {
      return
    }
    try write { transaction, catalogue in
      try transaction.connection.run(
        "UPDATE photo_catalogue SET remote_id = ? WHERE id = ?", .text(id), .integer(catalogue))
    }
  }

  private func remoteID() throws -> String? {
    try read(otherwise: nil) { connection, id in try CatalogueTable(connection: connection).remoteID(id) }
  }

  /// A catalogue whose rows belong to a user.
  package struct Owned: Sendable {
    package var directory: String
    package var owner: SyncOwner
    /// The number of changes that were never sent; of a detached catalogue, of all rows.
    package var unsent: Int64
    /// Whether it is bound to its owner's remote.
    package var isBound: Bool
    var id: Int64
  }

  /// The catalogues whose rows belong to a user, in the order of their creation.
  package static func owned(_ connection: Connection, of database: Database) throws -> [Owned] {
    guard try database.has(PhotoSchema.subject) else { return [] }
    var owned: [Owned] = []
    try connection.each(
      """
      SELECT c.id, c.directory, coalesce(c.owner, c.user), coalesce(c.owner_remote, c.remote), c.user IS NOT NULL,
      (SELECT coalesce(sum(s.kept_changes + CASE WHEN s.synced_checksum IS NULL THEN max(s.photos, s.changes)
      ELSE s.changes + s.imports END), 0) FROM photo_shard s WHERE s.catalogue = c.id)
      FROM photo_catalogue c WHERE coalesce(c.owner, c.user) IS NOT NULL ORDER BY c.id
      """
    ) { row in
      owned.append(
        Owned(
          directory: row.text(1), owner: SyncOwner(remote: row.textIfAny(3), user: row.text(2)),
          unsent: try row.integer(5), isBound: row.flag(4), id: try row.integer(0)))
    }
    return owned
  }

  /// Calls `body` while none of the catalogues is being synchronized by this process: a sync that ends afterwards
  /// would bind its emptied catalogue again.
  package static func withTurns(
    of owned: ArraySlice<Owned>, in database: Database, _ cancellation: Cancellation,
    _ body: () throws -> Void
  ) throws {
    guard let first = owned.first else { return try body() }
    let turn = SyncTurns.Subject(database: database, name: "photos " + first.directory)
    try SyncTurns.shared.withTurn(of: turn, cancellation) {
      try withTurns(of: owned.dropFirst(), in: database, cancellation, body)
    }
  }

  /// Removes the rows of the catalogues that belong to users, with all that is local to them, as a part of signing
  /// out. The files of photos stay: the next scan finds them.
  package static func signOut(in transaction: Transaction, of database: Database) throws {
    for owned in try owned(transaction.connection, of: database) {
      try signOut(owned.id, of: owned.directory, in: transaction)
    }
  }

  private static func signOut(_ id: Int64, of directory: String, in transaction: Transaction) throws {
    let connection = transaction.connection
    for sql: StaticString in [
      "DELETE FROM photo_shard WHERE catalogue = ?", "DELETE FROM photo WHERE catalogue = ?",
      "DELETE FROM photo_base WHERE catalogue = ?", "DELETE FROM photo_kept WHERE catalogue = ?",
      "DELETE FROM photo_trash WHERE catalogue = ?", "DELETE FROM photo_local WHERE catalogue = ?",
      "DELETE FROM photo_file WHERE catalogue = ?",
      "DELETE FROM photo_index WHERE catalogue = ?", "UPDATE photo_catalogue SET device = NULL WHERE id = ?",
    ] {
      try connection.run(sql, .integer(id))
    }
    try ConflictLog(connection).removeAll(of: ConflictLog.Owner(.photos, id))
    let table = CatalogueTable(connection: connection)
    try table.detach(id)
    try table.disown(id)
    // The next user's remote is another catalogue.
    try connection.run(
      "UPDATE photo_catalogue SET uuid = ?, modified = ? WHERE id = ?", .text(CatalogueTable.uuid()),
      .integer(transaction.now), .integer(id))
    transaction.note(
      subject: .photos, keys: Shard.Index.all.map { "\(Change.shardPrefix)\($0)" }, place: directory)
  }
}
