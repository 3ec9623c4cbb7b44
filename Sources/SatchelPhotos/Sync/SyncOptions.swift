import SatchelCore
import SatchelRemote
import SatchelSync

/// Options of a sync of photos.
public struct SyncOptions: TransferOptions {
  /// The policy for shards that were changed on both sides; nil for the one that is declared with the catalogue.
  public var onConflict: ConflictPolicy?
  /// Whether to report what would be transferred, without writing to either side.
  public var isDryRun = false
  /// Whether to accept a store without conditional writes, where concurrent devices may overwrite each other. Conditions
  /// that it refuses (501) are checked by a look before each write.
  public var allowUnsafeRemote = false
  /// The choice for rows that belong to another user or remote; nil refuses the sync.
  public var first: FirstSync?
  /// Whether to send everything again to a remote that was synchronized before and has no object of the user.
  public var recreate = false
  /// The number of shards that are transferred at the same time: 1 to 16; clamped.
  public var parallel = 4
  /// How requests are retried.
  public var retry = Retry()
  /// The number of retries for a shard, or the manifest, that other devices change.
  public var rounds = 8
  /// Polled regularly; the sync throws `cancelled` soon after it is set.
  public var cancellation = Cancellation.never

  public init() {}
}

extension ConflictPolicy {
  /// - Throws: `SatchelError` (`invalid`) for a policy that photos do not support
  func checkForPhotos() throws {
    guard self == .remoteWins || self == .merge else {
      throw SatchelError(.invalid, "on_conflict: photos support remote_wins and merge, not \(rawValue)")
    }
  }
}
