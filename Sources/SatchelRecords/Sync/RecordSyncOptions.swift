import SatchelRemote

/// Options of a sync of records.
public struct RecordSyncOptions: Sendable {
  /// The policy for records that were changed on both sides.
  public var onConflict = ConflictPolicy.newestWins
  /// Reports what would be transferred, without transferring or writing anything.
  public var isDryRun = false
  /// Allows a store without conditional writes: two devices that write at the same time may overwrite each
  /// other there.
  public var allowUnsafeRemote = false
  /// Retries failed records at once, even those whose retry time has not come.
  public var isImpatient = false
  /// The number of records transferred at once; values outside 1 to 16 are clamped.
  public var parallel = 4
  /// How often and after which delay a request is retried.
  public var retry = Retry()
  /// How often a record is started over because another writer was faster.
  public var rounds = 8
  /// Polled; the sync ends with `cancelled` soon after it returns true.
  public var cancellation = Cancellation.never

  public init() {}
}
