import SatchelCore
import SatchelRemote
import SatchelStorage

/// Options of work with backed up files.
public struct PhotoBackupOptions: TransferOptions {
  /// How many files are transferred at once: 1 to 16; clamped.
  public var parallel = 4
  /// How requests are retried.
  public var retry = Retry()
  /// Polled regularly.
  public var cancellation = Cancellation.never

  public init() {}
}

/// The files of one user's photos in an object store: `photos/{user}/{md5}`.
struct BackupRemote: Sendable {
  let store: MeteredStore
  let retry: Retry
  let cancellation: Cancellation
  /// The prefix of the user's keys.
  let prefix: ObjectPrefix

  init(_ session: SyncSession) throws {
    store = session.store
    retry = session.retry
    cancellation = session.cancellation
    prefix = try ObjectPrefix("photos/\(session.user)/")
  }

  func key(_ md5: MD5) throws -> ObjectKey { try ObjectKey(prefix.text + md5.description) }

  /// The photo whose file an object is; nil for another name.
  func md5(_ key: ObjectKey) -> MD5? {
    let name = key.text.dropFirst(prefix.text.count)
    guard let md5 = MD5(String(name)), md5.description == name else { return nil }
    return md5
  }

  var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }
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
