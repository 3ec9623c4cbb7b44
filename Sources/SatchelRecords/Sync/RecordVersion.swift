import SatchelJSON

/// One side of a record, as far as a decision needs it: the same for both sides, so that whoever decides decides the
/// same.
struct RecordVersion: Sendable, Equatable {
  var content: RecordContent
  /// Nil when it was deleted.
  private(set) var value: JSONObject?

  /// - Throws: `JSONError` for a document that is none
  init(_ content: RecordContent) throws {
    self.content = content
    if let document = content.document { value = try JSONValue(parsing: document).objectValue }
  }

  /// Whether it was changed later; of the same time, whether its bytes are greater.
  func isNewer(than other: RecordVersion) -> Bool {
    if content.modified != other.content.modified { return content.modified > other.content.modified }
    return (other.content.document ?? []).lexicographicallyPrecedes(content.document ?? [])
  }

  /// Whether both say the same, however they spell it.
  func saysTheSame(as other: RecordVersion) -> Bool { value == other.value }
}
