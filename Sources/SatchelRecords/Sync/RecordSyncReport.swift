import SatchelCore
import SatchelJSON
import SatchelStorage

/// The result of a sync of records; of a dry run, what it would do.
public struct RecordSyncReport: Sendable, Equatable {
  /// A record that was not synchronized, or an object that is not a record.
  public struct Failure: Sendable, Equatable {
    /// The record's id; of an object that is not a record, the part of its key after the prefix.
    public var id: String
    public var code: SatchelError.Code
    public var message: String

    package init(id: String, code: SatchelError.Code, message: String) {
      self.id = id
      self.code = code
      self.message = message
    }
  }

  /// Records whose content was downloaded.
  public var downloaded = 0
  /// Records whose content was uploaded.
  public var uploaded = 0
  /// Records deleted locally because they were deleted remotely.
  public var deletedLocally = 0
  /// Records deleted remotely because they were deleted locally.
  public var deletedRemotely = 0
  /// Records merged from both sides; they were uploaded, too.
  public var merged = 0
  /// Records that were changed on both sides, and those whose conflict the host has not resolved yet.
  public var conflicts = 0
  /// Records without changes to transfer.
  public var unchanged = 0
  /// Records that failed, sorted; they stay pending.
  public var failed: [Failure] = []
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  public var isDryRun = false

  package init() {}

  /// Whether nothing was transferred.
  public var isUnchanged: Bool {
    downloaded + uploaded + deletedLocally + deletedRemotely + merged + conflicts == 0 && failed.isEmpty
  }
}

extension RecordSyncReport: JSONConvertible {
  public var json: JSONValue {
    func number(_ count: Int) -> JSONValue { .int(Int64(count)) }
    return [
      "downloaded": number(downloaded), "uploaded": number(uploaded),
      "deleted_locally": number(deletedLocally), "deleted_remotely": number(deletedRemotely),
      "merged": number(merged), "conflicts": number(conflicts), "unchanged": number(unchanged),
      "requests": .int(requests), "bytes_up": .int(bytesUp),
      "bytes_down": .int(bytesDown), "failed": .array(failed.map(\.json)), "dry_run": .bool(isDryRun),
    ]
  }
}

extension RecordSyncReport.Failure: JSONConvertible {
  public var json: JSONValue {
    ["id": .string(id), "code": .int(Int64(code.rawValue)), "message": .string(message)]
  }
}
