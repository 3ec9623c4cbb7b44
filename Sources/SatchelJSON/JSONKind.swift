/// The six kinds of JSON value, numbers told apart as the text tells them apart.
package enum JSONKind: UInt8, Sendable {
  case null, bool, integer, double, string, array, object
}

/// A run of bytes inside a text.
package struct JSONSlice: Equatable, Sendable {
  package var start: Int
  package var end: Int

  @inlinable package init(_ start: Int, _ end: Int) {
    self.start = start
    self.end = end
  }

  @inlinable package var count: Int { end - start }
}

/// Hears what a `JSONScanner` meets, in the order of the text.
package protocol JSONSink {
  /// An array or object begins; `start` is its bracket.
  mutating func begin(_ kind: JSONKind, at start: Int)
  /// The innermost container ends; `end` lies behind its bracket.
  mutating func end(_ kind: JSONKind, at end: Int)
  /// A member's key, without its quotes.
  mutating func key(_ slice: JSONSlice, isEscaped: Bool)
  /// A scalar; a string's slice is without its quotes.
  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool)
}

/// Hears nothing: for asking only whether a text is JSON.
package struct JSONNullSink: JSONSink {
  package init() {}
  package mutating func begin(_ kind: JSONKind, at start: Int) {}
  package mutating func end(_ kind: JSONKind, at end: Int) {}
  package mutating func key(_ slice: JSONSlice, isEscaped: Bool) {}
  package mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {}
}
