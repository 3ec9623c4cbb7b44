import SatchelJSON
import SatchelStorage

/// What a sync of records did; of a dry run, what it would do.
public struct RecordSyncReport: Sendable, Equatable {
  /// A record that stays as it is, or an object that is none.
  public struct Failure: Sendable, Equatable {
    /// The record; of an object that is none, what stands behind the prefix.
    public var id: String
    public var code: SatchelError.Code
    public var message: String

    public init(id: String, code: SatchelError.Code, message: String) {
      self.id = id
      self.code = code
      self.message = message
    }
  }

  /// Records whose content came from the object store.
  public var downloaded = 0
  /// Records whose content went there.
  public var uploaded = 0
  /// Records that were deleted here because they were there.
  public var deletedHere = 0
  /// Records that were deleted there because they were here.
  public var deletedThere = 0
  /// Records that are made of both sides; they were uploaded, too.
  public var merged = 0
  /// Records that had been changed on both sides, and those that still wait for the host to decide.
  public var conflicts = 0
  /// Records with nothing to move.
  public var unchanged = 0
  /// They stay pending. Sorted.
  public var failed: [Failure] = []
  /// Requests to the object store, repeated ones included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  public var isDryRun = false

  public init() {}

  /// Whether there was nothing to move.
  public var isUnchanged: Bool {
    downloaded + uploaded + deletedHere + deletedThere + merged + conflicts == 0 && failed.isEmpty
  }
}

extension RecordSyncReport {
  public var json: JSONValue {
    func number(_ count: Int) -> JSONValue { .int(Int64(count)) }
    return [
      "downloaded": number(downloaded), "uploaded": number(uploaded), "deleted_here": number(deletedHere),
      "deleted_there": number(deletedThere), "merged": number(merged), "conflicts": number(conflicts),
      "unchanged": number(unchanged), "requests": .int(requests), "bytes_up": .int(bytesUp),
      "bytes_down": .int(bytesDown), "failed": .array(failed.map(\.json)), "dry_run": .bool(isDryRun),
    ]
  }
}

extension RecordSyncReport.Failure {
  public var json: JSONValue {
    ["id": .string(id), "code": .int(Int64(code.rawValue)), "message": .string(message)]
  }
}
