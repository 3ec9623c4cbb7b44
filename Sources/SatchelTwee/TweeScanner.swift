/// Finds links, macros and comments in the bodies of passages.
///
/// It makes one pass over the bytes. A construct that is not closed is prose, and the number of searches for
/// a missing end is limited, so that the time is linear in the bytes for any input.
struct TweeScanner {
  let bytes: TweeBytes
  let format: TweeFormat
  let names: TweeNames
  /// The constructs in the order of the body; a macro comes before the constructs inside it.
  private(set) var markups: ContiguousArray<TweeMarkup> = []
  /// The names of passages in code that is not understood, which may lead there. Not in order.
  var mentions: ContiguousArray<Range<Int>> = []
  /// The paths and addresses of pictures, sounds and films.
  var files: ContiguousArray<Range<Int>> = []
  var position = 0
  private(set) var start = 0
  private(set) var end = 0
  /// The end of the arguments of a macro that is already hidden.
  var hiddenEnd = 0
  private var lineEnd = 0
  /// The offset before which the line has no "]".
  private var noBracketBefore = 0
  private var absent: UInt32 = 0
  private var failures = 0
  /// The links whose bodies contain the position: a jump in a body has the text of its link.
  var bodies: [TweeLinkBody] = []
  /// The number of Harlowe's hooks that contain the position.
  var hookDepth = 0
  /// The hook that belongs to a link or a condition.
  var pendingHook: PendingHook?
  /// The conditions whose branches contain the position.
  var conditions: [TweeCondition] = []
  /// The end of Harlowe's last condition, and whether each of its branches offers a way on.
  var chain = (end: 0, offersAll: false)
  /// Whether the body has a way on, and one that depends on no condition.
  var hasWayOn = false
  var hasSureWayOn = false
  /// Whether the body loads code from elsewhere, which may lead to any passage.
  var loadsCode = false
  /// The last HTML tag, and the text of its element.
  var tagStart = 0
  var tagEnd = 0
  var tagText: Range<Int>?

  init(_ bytes: TweeBytes, _ format: TweeFormat, names: TweeNames) {
    self.bytes = bytes
    self.format = format
    self.names = names
  }

  /// Fills `markups` with the constructs of a body.
  mutating func scan(_ body: Range<Int>) {
    reset(body)
    if format == .chapbook { skipVariables() }
    while position < end {
      switch bytes[position] {
      case UInt8(ascii: "["): bracket()
      case UInt8(ascii: "]"): closeBracket()
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
    endConditions()
    // Without a format it is not known where the body has code.
    if format == .unknown { mention(body) }
  }

  /// Fills `markups` with the jumps of a body of JavaScript.
  mutating func scanScript(_ body: Range<Int>) {
    reset(body)
    scanCode(body)
    mention(body)
  }

  private mutating func reset(_ body: Range<Int>) {
    markups.removeAll(keepingCapacity: true)
    mentions.removeAll(keepingCapacity: true)
    files.removeAll(keepingCapacity: true)
    (start, end, position) = (body.lowerBound, body.upperBound, body.lowerBound)
    (hiddenEnd, lineEnd, noBracketBefore) = (start, start, start)
    (absent, failures) = (0, 0)
    bodies.removeAll(keepingCapacity: true)
    (hookDepth, pendingHook, tagStart, tagEnd, tagText) = (0, nil, start, start, nil)
    conditions.removeAll(keepingCapacity: true)
    (chain, hasWayOn, hasSureWayOn) = ((0, false), false, false)
    loadsCode = false
  }

  // MARK: - Helpers of the scanners

  mutating func add(_ markup: TweeMarkup) {
    markups.append(markup)
    switch markup.kind {
    case .link, .macro, .include, .jump: offer()
    case .external, .hidden: break
    }
  }

  mutating func hide(_ range: Range<Int>) { markups.append(TweeMarkup(.hidden, range)) }

  /// Returns the offset of a closing delimiter; nil when it is missing, which is remembered for the next
  /// call.
  mutating func find(_ ending: TweeEnding, from start: Int) -> Int? {
    let bit: UInt32 = 1 << ending.rawValue
    guard absent & bit == 0 else { return nil }
    if let found = bytes.find(ending.text, from: start, to: end) { return found }
    absent |= bit
    return nil
  }

  /// Returns the offset after a closing delimiter; nil when it is missing.
  mutating func findEnd(_ ending: TweeEnding, from start: Int) -> Int? {
    find(ending, from: start).map { $0 + ending.text.utf8CodeUnitCount }
  }

  /// Returns the offset of the next "]" of the line.
  mutating func closingBracket(from start: Int) -> Int? {
    guard start >= noBracketBefore else { return nil }
    let lineEnd = endOfLine(start)
    if let found = bytes.find(UInt8(ascii: "]"), from: start, to: lineEnd) { return found }
    noBracketBefore = lineEnd
    return nil
  }

  mutating func endOfLine(_ offset: Int) -> Int {
    if offset >= lineEnd { lineEnd = bytes.find(0x0A, from: offset, to: end) ?? end }
    return lineEnd
  }

  /// Whether another search that follows quotes and brackets is allowed; failed searches are limited.
  var canSearch: Bool { failures < 8 }

  mutating func countFailure() { failures += 1 }

  func isLineStart(_ offset: Int) -> Bool { offset == start || bytes[offset - 1] == 0x0A }

  /// Returns the quoted string that starts at an offset, and the offset after it; nil when it is not closed.
  func quoted(at offset: Int, to end: Int) -> (text: Range<Int>, isEscaped: Bool, end: Int)? {
    let quote = bytes[offset]
    guard offset < end,
      quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") || quote == UInt8(ascii: "`")
    else {
      return nil
    }
    var isEscaped = false
    var index = offset + 1
    while index < end {
      if bytes[index] == quote { return (bytes.range(offset + 1, index), isEscaped, index + 1) }
      if bytes[index] == UInt8(ascii: "\\") {
        isEscaped = true
        index += 1
      }
      index += 1
    }
    return nil
  }

  /// Returns the string of a range that consists of one string in single or double quotes, and white space.
  func literal(_ range: Range<Int>) -> (text: Range<Int>, isEscaped: Bool)? {
    let range = bytes.trimmed(range)
    guard let text = quoted(at: range.lowerBound, to: range.upperBound), text.end == range.upperBound,
      bytes[range.lowerBound] != UInt8(ascii: "`")
    else { return nil }
    return (text.text, text.isEscaped)
  }

  /// Hides a construct that is not displayed, up to its closing delimiter; false when it is not closed.
  mutating func hide(to ending: TweeEnding, from inside: Int) -> Bool {
    guard let after = findEnd(ending, from: inside) else { return false }
    hide(position..<after)
    position = after
    return true
  }
}

/// A hook of Harlowe that belongs to the macro before it, by the offset of its "[".
struct PendingHook {
  enum Kind {
    /// The body of a link.
    case link(TweeLinkBody.Text?)
    /// A branch of a condition; whether the branches before it offer a way on.
    case condition(offersAll: Bool, isElse: Bool)
  }

  var offset: Int
  var kind: Kind
}

/// A construct in a passage's body that is not prose.
struct TweeMarkup {
  enum Kind: UInt8 {
    /// A link in brackets to a passage.
    case link
    /// A macro that leads to a passage.
    case macro
    /// A macro that displays a passage as a part of this one.
    case include
    /// A link or macro whose target is known only when the story is played.
    case jump
    /// A link to an address outside of the story.
    case external
    /// A macro or comment that leads nowhere.
    case hidden
  }

  var kind: Kind
  var range: Range<Int>
  /// The text that is displayed instead; nil for none.
  var text: Range<Int>?
  var target: Range<Int>
  var isTextEscaped = false
  var targetEncoding = TweeEncoding.none

  init(_ kind: Kind, _ range: Range<Int>, text: Range<Int>? = nil, target: Range<Int> = 0..<0) {
    self.kind = kind
    self.range = range
    self.text = text
    self.target = target
  }
}
