/// Scans Harlowe's macros.
extension TweeScanner {
  /// Macros with the name of the passage as the last argument, and the visible text as the first of two.
  private static let linking: [StaticString] = ["linkgoto", "linkrevealgoto"]
  /// Macros with the name of the passage as the last argument, and without visible text.
  private static let leading: [StaticString] = [
    "goto", "redirect", "clickgoto", "mouseovergoto", "mouseoutgoto",
  ]
  /// Macros with the visible text as the first argument, whose hook is the body of a link.
  private static let opening: [StaticString] = [
    "link", "linkreplace", "linkreveal", "linkappend", "linkrepeat", "linkrerun",
  ]
  private static let conditions: [StaticString] = ["if", "unless", "elseif", "visited"]
  private static let jumping: [StaticString] = [
    "undo", "linkundo", "clickundo", "mouseoverundo", "mouseoutundo", "openstorylets", "linkstorylet",
  ]

  /// The first and the last argument of a macro, and the offset of its ")".
  private struct Arguments {
    var first: Range<Int>
    var last: Range<Int>
    var close: Int
  }

  /// Scans `(name: arguments)` at the position. Its arguments are scanned too, unless the macro leads to a
  /// passage.
  ///
  /// - Returns: whether the position was moved past it
  mutating func harloweMacro() -> Bool {
    let offset = position
    var index = offset + 1
    while index < end, index - offset < 40,
      TweeBytes.isWord(bytes[index]) || bytes[index] == UInt8(ascii: "-")
    {
      index += 1
    }
    guard index > offset + 1, bytes[index] == UInt8(ascii: ":"), index < end, canSearch else { return false }
    let name = offset + 1..<index
    func isOne(of names: [StaticString]) -> Bool { names.contains { matches(name, $0) } }
    let links = isOne(of: Self.linking)
    let includes = isOne(of: ["display"])
    guard links || includes || isOne(of: Self.leading) || isOne(of: Self.jumping) else {
      let opens = isOne(of: Self.opening)
      if format == .harlowe || opens, offset >= hiddenEnd {
        if let arguments = arguments(from: index + 1) {
          hiddenEnd = arguments.close + 1
          hide(offset..<hiddenEnd)
          if opens {
            expectHook(
              after: arguments,
              .link(
                literal(arguments.first).map { TweeLinkBody.Text(range: $0.text, isEscaped: $0.isEscaped) }))
          } else if isOne(of: ["if", "unless", "else", "elseif"]) {
            expectHook(after: arguments, condition(name, at: offset))
          } else if !isOne(of: Self.conditions) {
            mention(offset..<hiddenEnd)
          }
        } else {
          countFailure()
        }
      }
      return false
    }
    guard let arguments = arguments(from: index + 1) else {
      countFailure()
      return false
    }
    let range = bytes.range(offset, arguments.close + 1)
    var markup = TweeMarkup(.jump, range)
    if !isOne(of: Self.jumping), let target = literal(arguments.last) {
      markup = self.markup(
        includes ? .include : .macro, range, to: target.text, as: .string(isEscaped: target.isEscaped))
    } else {
      mention(range)
    }
    if links, let text = literal(arguments.first) {
      markup.text = text.text
      markup.isTextEscaped = text.isEscaped
    }
    if includes { add(markup) } else { addJump(markup) }
    position = range.upperBound
    return true
  }

  /// Notes where the hook of a macro starts: the next one, after further macros that change it.
  private mutating func expectHook(after arguments: Arguments, _ kind: PendingHook.Kind) {
    var index = arguments.close + 1
    for _ in 0..<8 {
      index = bytes.skipSpace(from: index, to: end)
      switch bytes[index] {
      case UInt8(ascii: "["):
        pendingHook = PendingHook(offset: index, kind: kind)
        return
      case UInt8(ascii: "+"): index += 1
      case UInt8(ascii: "("):
        guard canSearch, let more = self.arguments(from: index + 1) else {
          countFailure()
          return
        }
        index = more.close + 1
      case UInt8(ascii: "$"), UInt8(ascii: "_"):
        index += 1
        while TweeBytes.isWord(bytes[index]), index < end { index += 1 }
      default: return
      }
    }
  }

  /// Whether a macro's name equals a text, ignoring case, hyphens and underscores.
  func matches(_ name: Range<Int>, _ text: StaticString) -> Bool {
    var matched = 0
    for byte in bytes.raw(name) where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
      guard matched < text.utf8CodeUnitCount, TweeBytes.lower(byte) == text.utf8Start[matched] else {
        return false
      }
      matched += 1
    }
    return matched == text.utf8CodeUnitCount
  }

  private func arguments(from start: Int) -> Arguments? {
    var depth = 1
    var firstEnd: Int?
    var lastStart = start
    var index = start
    while index < end {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"):
        depth -= 1
        guard depth == 0 else { continue }
        return Arguments(
          first: bytes.range(start, firstEnd ?? index - 1), last: bytes.range(lastStart, index - 1),
          close: index - 1)
      case UInt8(ascii: ",") where depth == 1:
        firstEnd = firstEnd ?? index - 1
        lastStart = index
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        if isPossessive(index - 1) { continue }
        guard let text = quoted(at: index - 1, to: end) else { return nil }
        index = text.end
      default: break
      }
    }
    return nil
  }

  /// Whether a quote is part of a possessive, such as the "'s" of `$bag's length`.
  private func isPossessive(_ offset: Int) -> Bool {
    guard bytes[offset] == UInt8(ascii: "'"), bytes[offset + 1] == UInt8(ascii: "s") else { return false }
    return (TweeBytes.isWord(bytes[offset - 1]) || bytes[offset - 1] == UInt8(ascii: ")"))
      && TweeBytes.isSpace(bytes[offset + 2])
  }
}
