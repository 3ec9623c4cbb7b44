import SatchelCore
import SatchelRemote

/// Options of a sync of photos.
public struct SyncOptions: TransferOptions {
  /// The policy for shards that were changed on both sides; nil for the one that is declared with the catalogue.
  public var onConflict: ConflictPolicy?
  /// Whether to report what would be transferred, without writing to either side.
  public var isDryRun = false
  /// Whether to accept a store that ignores conditional requests, where concurrent devices may overwrite each
  /// other.
  public var allowUnsafeRemote = false
  /// How many shards are transferred at once: 1 to 16; clamped.
  public var parallel = 4
  /// How requests are retried.
  public var retry = Retry()
  /// How often a shard, or the manifest, is tried again after another device changed it.
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
