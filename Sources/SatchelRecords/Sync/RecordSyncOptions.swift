import SatchelRemote

/// How a collection is brought into agreement with its master.
public struct RecordSyncOptions: Sendable {
  /// What happens to records that were changed on both sides.
  public var strategy = RecordSyncStrategy.newestWins
  /// Tells what would move, and moves nothing: neither side is written.
  public var isDryRun = false
  /// Takes the risk of a store that ignores conditions: two devices at once may overwrite each other there.
  public var acceptsUnconditional = false
  /// Also tries records that failed and wait for their time.
  public var isImpatient = false
  /// Records that move at once, 1 to 16; others are cut to that.
  public var parallel = 4
  /// How often and how soon a request is tried again.
  public var retry = Retry()
  /// How often a record is begun anew because somebody else was faster.
  public var rounds = 8
  /// Asked again and again; the sync ends with `cancelled` soon after it says yes.
  public var cancellation = Cancellation.never

  public init() {}
}
