import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

/// Options of work with backed up files.
public struct PhotoBackupOptions: TransferOptions {
  /// The number of files that are transferred at the same time: 1 to 16; clamped.
  public var parallel = 4
  /// Whether a run stars the photos first that have a file on this device and are not backed up.
  public var all = false
  /// Whether a run writes to a directory that is absent, empty or another one, although this device has backed up to it before.
  public var recreate = false
  /// How requests are retried.
  public var retry = Retry()
  /// Polled regularly.
  public var cancellation = Cancellation.never
  /// Always: an object is named by its content, and the index by its device, so that concurrent writers write the same.
  public var allowUnsafeRemote: Bool { true }

  public init() {}
}

extension PhotoCatalogue {
  /// Runs `body` while no other work with backed up files runs on this catalogue in this process.
  ///
  /// - Parameter recreates: whether a directory that was lost is written again
  /// - Throws: `SatchelError`: see `checkDirectory`
  func withBackups<Result>(
    _ session: SyncSession, recreates: Bool = false, _ body: (BackupRemote) throws -> Result
  ) throws -> Result {
    try session.withTurn(SyncTurns.Subject(database: database, name: "backups of " + directory)) {
      let owner = try read(otherwise: nil) { try CatalogueTable(connection: $0).owner($1) }
      if let owner, owner.user != session.user.text {
        throw owner.refusal(of: "\(directory): the catalogue of photos")
      }
      try checkDirectory(of: session, recreates: recreates)
      return try body(BackupRemote(session))
    }
  }

  /// Refuses a directory that is not the one of the backups: another disk may be mounted at its path, or none.
  ///
  /// - Parameter recreates: whether one that was lost is written again
  /// - Throws: `SatchelError`: `.unavailable` for one that is absent or empty, or has other files; `.foreign` for one
  ///   with another id
  func checkDirectory(of session: SyncSession, recreates: Bool = false) throws {
    guard let remote = session.remote as? any PlacedStore, let identity = remote.identity else { return }
    // The files of backups may be in another remote than the rows.
    let (parts, id): ([String: IndexTable.Part], String?) = try read(otherwise: ([:], nil)) {
      connection, id in
      let table = CatalogueTable(connection: connection)
      return (
        try IndexTable(connection: connection, catalogue: id, of: remote).parts(),
        try table.owner(id)?.remote == identity ? table.remoteID(id) : nil
      )
    }
    guard let known = id ?? parts.values.lazy.compactMap(\.remoteID).first else { return }
    let place = try remote.place()
    // The id may have been lost alone.
    let isOther = try place == .unnamed && !parts.isEmpty && !hasFiles(session)
    switch place {
    case .named(known): return
    case .named where !recreates || id != nil:
      throw SatchelError(
        .foreign, "\(identity) is another directory than the one with this device's backups: its id differs")
    case .named: break
    case .unnamed where !isOther: return remote.setID(known)
    case .unnamed where !recreates:
      throw SatchelError(
        .unavailable,
        "\(identity) has other files, and none of this device's backups: is another disk mounted at its path?"
      )
    case .absent where !recreates, .empty where !recreates:
      throw SatchelError(
        .unavailable,
        "the remote is empty: \(identity) has no files, although this device has backed up to it before; mount its "
          + "disk, or, if it really lost everything, recreate writes to it again, and verify then queues what is missing"
      )
    case .unnamed, .absent, .empty: remote.setID(known)
    }
    if parts.isEmpty { return }
    try write { transaction, id in
      let table = IndexTable(connection: transaction.connection, catalogue: id, of: remote)
      for key in parts.keys { try table.remove(key) }
    }
  }

  /// Whether the remote has files of the user's photos, or an index of them.
  private func hasFiles(_ session: SyncSession) throws -> Bool {
    for prefix in try [BackupRemote(session).prefix, IndexWriter.prefix(of: session.user)] {
      let page = try session.store.list(prefix, from: nil, limit: 1, cancellation: session.cancellation)
      if !page.entries.isEmpty || page.skipped > 0 { return true }
    }
    return false
  }
}
