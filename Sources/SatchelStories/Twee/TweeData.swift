import SatchelJSON

/// What StoryData says that matters here. Offsets are those of the passage's body.
struct TweeData: JSONSink {
  private(set) var start: (slice: JSONSlice, isEscaped: Bool)?
  private(set) var format: JSONSlice?
  private let body: UnsafeRawBufferPointer
  private var depth = 0
  private var field = Field.other

  private enum Field { case start, format, other }

  init(_ body: UnsafeRawBufferPointer) { self.body = body }

  mutating func begin(_ kind: JSONKind, at start: Int) { depth += 1 }

  mutating func end(_ kind: JSONKind, at end: Int) { depth -= 1 }

  mutating func key(_ slice: JSONSlice, isEscaped: Bool) {
    guard depth == 1, !isEscaped else {
      field = .other
      return
    }
    let key = body[slice.start..<slice.end]
    field = key.elementsEqual("start".utf8) ? .start : key.elementsEqual("format".utf8) ? .format : .other
  }

  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {
    guard depth == 1, kind == .string else { return }
    switch field {
    case .start: start = (slice, isEscaped)
    case .format: format = slice
    case .other: break
    }
  }
}
