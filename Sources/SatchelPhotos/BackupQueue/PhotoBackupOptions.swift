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
  /// Whether a run writes to a directory that is absent or empty, although this device has backed up to it before.
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
  /// - Throws: `SatchelError` `.unavailable` for a directory that this device has written to before, and that is absent
  ///   or empty: its disk is not mounted
  func withBackups<Result>(
    _ session: SyncSession, recreates: Bool = false, _ body: (BackupRemote) throws -> Result
  ) throws -> Result {
    try session.withTurn(SyncTurns.Subject(database: database, name: "backups of " + directory)) {
      // The files of backups may be in another remote than the rows.
      let owner = try read(otherwise: nil) { try CatalogueTable(connection: $0).owner($1) }
      if let owner, owner.user != session.user.text {
        throw owner.refusal(of: "\(directory): the catalogue of photos")
      }
      if owner?.remote == session.remote.identity {
        try checkPlace(of: session.remote, recreates: recreates)
      }
      if !recreates { try checkIndexed(session.remote) }
      return try body(BackupRemote(session))
    }
  }

  /// Refuses a directory without files that has an index of this device, as far as this device knows.
  private func checkIndexed(_ remote: any ObjectStore) throws {
    guard let remote = remote as? any PlacedStore, let identity = remote.identity else { return }
    let isIndexed = try read(otherwise: false) { connection, id in
      try !IndexTable(connection: connection, catalogue: id, of: remote).parts().isEmpty
    }
    guard isIndexed, [.absent, .empty].contains(try remote.place()) else { return }
    throw SatchelError(
      .unavailable,
      "the remote is empty: \(identity) has no files, although this device has backed up to it before; mount its disk, "
        + "or, if it really lost everything, recreate writes to it again, and verify then queues what is missing"
    )
  }
}
