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
  /// How requests are retried.
  public var retry = Retry()
  /// Polled regularly.
  public var cancellation = Cancellation.never

  public init() {}
}

extension PhotoCatalogue {
  /// Runs `body` while no other work with backed up files runs on this catalogue in this process.
  func withBackups<Result>(_ session: SyncSession, _ body: (BackupRemote) throws -> Result) throws -> Result {
    try session.withTurn(SyncTurns.Subject(database: database, name: "backups of " + directory)) {
      // The files of backups may be in another remote than the rows.
      let owner = try read(otherwise: nil) { try CatalogueTable(connection: $0).owner($1) }
      if let owner, owner.user != session.user.text {
        throw owner.refusal(of: "\(directory): the catalogue of photos")
      }
      if owner?.remote == session.remote.identity { try checkPlace(of: session.remote, recreates: false) }
      return try body(BackupRemote(session))
    }
  }
}
