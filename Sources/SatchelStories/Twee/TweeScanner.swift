/// Finds links, macros and comments in one passage's body after the other.
///
/// One pass over the bytes. What is opened and never closed is prose, and the search for its end is not repeated
/// forever: time grows with the bytes, whatever they are.
struct TweeScanner {
  let bytes: TweeBytes
  let format: TweeFormat
  let names: TweeNames
  /// In the order of the body; a macro's mark comes before what stands inside it.
  private(set) var marks: ContiguousArray<TweeMark> = []
  var position = 0
  private(set) var start = 0
  private(set) var end = 0
  /// Up to here a macro's arguments reach that are known to be hidden.
  var hiddenEnd = 0
  private var lineEnd = 0
  /// Before here no "]" is to be found on the line.
  private var noBracketBefore = 0
  private var absent: UInt32 = 0
  private var failures = 0

  init(_ bytes: TweeBytes, _ format: TweeFormat, _ names: TweeNames) {
    self.bytes = bytes
    self.format = format
    self.names = names
  }

  /// Fills `marks` with those of a body.
  mutating func scan(_ body: Range<Int>) {
    reset(body)
    if format == .chapbook { skipVariables() }
    while position < end {
      switch bytes[position] {
      case UInt8(ascii: "["): bracket()
      case UInt8(ascii: "<"): angle()
      case UInt8(ascii: "/"): slash()
      case UInt8(ascii: "{"): brace()
      case UInt8(ascii: "("): parenthesis()
      case UInt8(ascii: "`"): backtick()
      case UInt8(ascii: "\""): quotes()
      case UInt8(ascii: "="): attribute()
      default: position += 1
      }
    }
  }

  /// Fills `marks` with the jumps of a body that is JavaScript.
  mutating func scanScript(_ body: Range<Int>) {
    reset(body)
    scanCode(body)
  }

  private mutating func reset(_ body: Range<Int>) {
    marks.removeAll(keepingCapacity: true)
    (start, end, position) = (body.lowerBound, body.upperBound, body.lowerBound)
    (hiddenEnd, lineEnd, noBracketBefore) = (start, start, start)
    (absent, failures) = (0, 0)
  }

  // MARK: - What handlers need

  mutating func add(_ mark: TweeMark) { marks.append(mark) }

  mutating func hide(_ range: Range<Int>) { marks.append(TweeMark(.hidden, range)) }

  /// Where something ends; nil, at once the next time, when it does not.
  mutating func find(_ ending: TweeEnding, from start: Int) -> Int? {
    let bit: UInt32 = 1 << ending.rawValue
    guard absent & bit == 0 else { return nil }
    if let found = bytes.find(ending.spelling, from: start, to: end) { return found }
    absent |= bit
    return nil
  }

  /// Behind the end of something; nil when it has none.
  mutating func findBehind(_ ending: TweeEnding, from start: Int) -> Int? {
    find(ending, from: start).map { $0 + ending.spelling.utf8CodeUnitCount }
  }

  /// The next "]" of the line.
  mutating func closingBracket(from start: Int) -> Int? {
    guard start >= noBracketBefore else { return nil }
    let lineEnd = endOfLine(start)
    if let found = bytes.find(UInt8(ascii: "]"), from: start, to: lineEnd) { return found }
    noBracketBefore = lineEnd
    return nil
  }

  mutating func endOfLine(_ place: Int) -> Int {
    if place >= lineEnd { lineEnd = bytes.find(0x0A, from: place, to: end) ?? end }
    return lineEnd
  }

  /// Whether another search that follows quotes and brackets is affordable; counts those that found nothing.
  var maySearch: Bool { failures < 8 }

  mutating func noteFailure() { failures += 1 }

  func isLineStart(_ place: Int) -> Bool { place == start || bytes[place - 1] == 0x0A }

  /// The byte after a text in quotes that begins at a place, with what stands between them; nil when it is not
  /// closed.
  func quoted(at place: Int, to end: Int) -> (text: Range<Int>, isEscaped: Bool, end: Int)? {
    let quote = bytes[place]
    guard place < end, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") || quote == UInt8(ascii: "`")
    else {
      return nil
    }
    var isEscaped = false
    var index = place + 1
    while index < end {
      if bytes[index] == quote { return (bytes.range(place + 1, index), isEscaped, index + 1) }
      if bytes[index] == UInt8(ascii: "\\") {
        isEscaped = true
        index += 1
      }
      index += 1
    }
    return nil
  }

  /// A text in single or double quotes, and nothing else but white space.
  func literal(_ range: Range<Int>) -> (text: Range<Int>, isEscaped: Bool)? {
    let range = bytes.trimmed(range)
    guard let text = quoted(at: range.lowerBound, to: range.upperBound), text.end == range.upperBound,
      bytes[range.lowerBound] != UInt8(ascii: "`")
    else { return nil }
    return (text.text, text.isEscaped)
  }

  /// Passes over everything up to the end of something that is not shown, when it ends.
  mutating func hide(to ending: TweeEnding, from inside: Int) -> Bool {
    guard let behind = findBehind(ending, from: inside) else { return false }
    hide(position..<behind)
    position = behind
    return true
  }
}
