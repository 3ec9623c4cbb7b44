import SatchelJSON
import SatchelRemote

/// How far a sync has come.
public struct SyncProgress: TransferProgress, Equatable {
  public enum Phase: String, Sendable, CaseIterable {
    /// Finding out what has to move.
    case plan
    /// Moving shards.
    case shards
    /// Telling the others what was moved.
    case manifest
  }

  public var phase = Phase.plan
  public var shardsDone = 0
  /// Shards that have something to move.
  public var shardsTotal = 0
  /// Bytes of bodies so far, repeated ones included.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0

  public var json: JSONValue {
    [
      "phase": .string(phase.rawValue), "shards_done": .int(Int64(shardsDone)),
      "shards_total": .int(Int64(shardsTotal)), "bytes_up": .int(bytesUp), "bytes_down": .int(bytesDown),
    ]
  }
}
