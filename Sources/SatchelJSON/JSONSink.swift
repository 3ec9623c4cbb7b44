/// The kinds of JSON values: an integer is an Int64, a number with a fraction or exponent that is within the
/// range of a double is one, any other number is a big number.
package enum JSONKind: UInt8, Sendable {
  case null, bool, integer, double, bigNumber, string, array, object
}

/// A range of bytes in a text.
package struct JSONSlice: Equatable, Sendable {
  package var start: Int
  package var end: Int

  @inlinable @inline(__always) package init(_ start: Int, _ end: Int) {
    self.start = start
    self.end = end
  }

  @inlinable package var count: Int { @inline(__always) get { end &- start } }
}

/// Receives the events of a `JSONScanner` in text order.
package protocol JSONSink {
  /// Called at the start of an array or object; `start` is the offset of its opening bracket.
  mutating func begin(_ kind: JSONKind, at start: Int)
  /// Called at the end of the innermost container; `end` is the offset after its closing bracket.
  mutating func end(_ kind: JSONKind, at end: Int)
  /// Called for the key of a member; the slice excludes the quotes.
  mutating func key(_ slice: JSONSlice, isEscaped: Bool)
  /// Called for a scalar; the slice of a string excludes the quotes.
  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool)
}

/// Ignores all events; used to validate a text.
package struct JSONNullSink: JSONSink {
  // The thread sanitizer follows the address of an `inout` value; that of an empty one is arbitrary.
  private var isUsed = true

  package init() {}
  package mutating func begin(_ kind: JSONKind, at start: Int) {}
  package mutating func end(_ kind: JSONKind, at end: Int) {}
  package mutating func key(_ slice: JSONSlice, isEscaped: Bool) {}
  package mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {}
}
