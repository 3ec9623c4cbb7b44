/// Scans Harlowe's macros.
extension TweeScanner {
  /// Macros with the name of the passage as the last argument, and the visible text as the first of two.
  private static let linking: [StaticString] = ["linkgoto", "linkrevealgoto"]
  /// Macros with the name of the passage as the last argument, and without visible text.
  private static let leading: [StaticString] = [
    "goto", "redirect", "display", "clickgoto", "mouseovergoto", "mouseoutgoto",
  ]
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
    guard links || isOne(of: Self.leading) || isOne(of: Self.jumping) else {
      if format == .harlowe, offset >= hiddenEnd {
        if let arguments = arguments(from: index + 1) {
          hiddenEnd = arguments.close + 1
          hide(offset..<hiddenEnd)
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
      markup = TweeMarkup(.macro, range, target: target.text)
      markup.isTargetEscaped = target.isEscaped
    }
    if links, let text = literal(arguments.first) {
      markup.text = text.text
      markup.isTextEscaped = text.isEscaped
    }
    add(markup)
    position = range.upperBound
    return true
  }

  /// Whether a macro's name equals a text, ignoring case, hyphens and underscores.
  private func matches(_ name: Range<Int>, _ text: StaticString) -> Bool {
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
