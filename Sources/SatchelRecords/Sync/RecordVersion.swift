import SatchelJSON
import SatchelRemote

/// One side of a record, as far as a decision needs it: the same for both sides, so that all devices decide the same.
struct RecordVersion: Sendable, Equatable {
  var content: SyncContent

  init(_ content: SyncContent) { self.content = content }

  /// Nil when it was deleted.
  ///
  /// - Throws: `JSONError` for a document that is not JSON
  var value: JSONObject? {
    get throws { try content.document.flatMap { try JSONValue(parsing: $0).objectValue } }
  }

  /// Whether it was changed later; of two changes of the same time, whether its bytes are greater.
  func isNewer(than other: RecordVersion) -> Bool {
    if content.modified != other.content.modified { return content.modified > other.content.modified }
    return (other.content.document ?? []).lexicographicallyPrecedes(content.document ?? [])
  }

  /// Whether both have the same value, however it is written.
  func hasSameValue(as other: RecordVersion) throws -> Bool { try value == other.value }
}
