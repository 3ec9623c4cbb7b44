import SatchelCore
import SatchelRemote
import SatchelStorage

/// Options of work with backed up files.
public struct PhotoBackupOptions: TransferOptions {
  /// The number of files that are transferred at the same time: 1 to 16; clamped.
  public var parallel = 4
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
      let bound = try read(otherwise: nil) { try CatalogueTable(connection: $0).row($1)?.user }
      if let bound, bound != session.user.text {
        throw SatchelError(
          .foreign,
          "the catalogue was synchronized with the remote of \"\(bound)\", not of \"\(session.user)\": "
            + "detach it first")
      }
      return try body(BackupRemote(session))
    }
  }
}
