import SatchelJSON

/// Which records a query wants.
public indirect enum RecordFilter: Sendable {
  /// What must hold at a path: "a.b" or a JSON Pointer, or "@id", "@created", "@modified", "@revision",
  /// "@sync_status".
  case field(String, RecordTest)
  /// All must hold; an empty list always does.
  case all([RecordFilter])
  /// One at least must hold; an empty list never does.
  case any([RecordFilter])
  case not(RecordFilter)
}

/// What must hold of a field. Ranges compare numbers with numbers and texts, by their UTF-8 bytes, with texts. What
/// is missing fulfils only `notEquals` and `exists(false)`.
public enum RecordTest: Sendable {
  /// 1 equals 1.0.
  case equals(JSONValue)
  case notEquals(JSONValue)
  case less(JSONValue)
  case lessOrEqual(JSONValue)
  case greater(JSONValue)
  case greaterOrEqual(JSONValue)
  case oneOf([JSONValue])
  /// A text that begins so.
  case prefix(String)
  /// An array with such an element, or a text with this text in it.
  case contains(JSONValue)
  /// Whether there is anything, null included.
  case exists(Bool)
}
