import SatchelJSON
import SatchelRemote

/// How far a sync of records has come.
public struct RecordSyncProgress: TransferProgress, Equatable {
  public enum Phase: String, Sendable, CaseIterable {
    /// Finding out what there is.
    case list
    /// Moving records.
    case records
  }

  public var phase = Phase.list
  public var recordsDone = 0
  /// Records that have something to move, as far as that is known: it grows while listing goes on.
  public var recordsTotal = 0
  /// Bytes of bodies so far, repeated ones included.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0

  public var json: JSONValue {
    [
      "phase": .string(phase.rawValue), "records_done": .int(Int64(recordsDone)),
      "records_total": .int(Int64(recordsTotal)), "bytes_up": .int(bytesUp), "bytes_down": .int(bytesDown),
    ]
  }
}
