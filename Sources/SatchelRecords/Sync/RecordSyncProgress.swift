import SatchelJSON
import SatchelRemote

/// The progress of a sync of records.
public struct RecordSyncProgress: TransferProgress, Equatable, JSONConvertible {
  public enum Phase: String, Sendable, CaseIterable {
    /// Listing both sides.
    case list
    /// Transferring records.
    case records
  }

  public var phase = Phase.list
  public var recordsDone = 0
  /// Records to transfer, as far as known: increases while listing continues.
  public var recordsTotal = 0
  /// Bytes of bodies so far, retries included.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0

  public var json: JSONValue {
    [
      "phase": .string(phase.rawValue), "records_done": .int(Int64(recordsDone)),
      "records_total": .int(Int64(recordsTotal)), "bytes_up": .int(bytesUp), "bytes_down": .int(bytesDown),
    ]
  }
}
