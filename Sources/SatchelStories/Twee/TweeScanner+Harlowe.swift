/// Harlowe's macros.
extension TweeScanner {
  /// The name is the last argument, what is shown the first of two.
  private static let linking: [StaticString] = ["linkgoto", "linkrevealgoto"]
  /// The name is the last argument; nothing is shown.
  private static let leading: [StaticString] = [
    "goto", "redirect", "display", "clickgoto", "mouseovergoto", "mouseoutgoto",
  ]
  private static let jumping: [StaticString] = [
    "undo", "linkundo", "clickundo", "mouseoverundo", "mouseoutundo", "openstorylets", "linkstorylet",
  ]

  /// A macro's arguments: those at the ends, and the ")".
  private struct Arguments {
    var first: Range<Int>
    var last: Range<Int>
    var close: Int
  }

  /// `(name: arguments)` at the position. What stands inside is scanned too, unless the macro leads somewhere.
  ///
  /// - Returns: whether the position was moved behind it.
  mutating func harloweMacro() -> Bool {
    let place = position
    var index = place + 1
    while index < end, index - place < 40, TweeBytes.isWord(bytes[index]) || bytes[index] == UInt8(ascii: "-")
    {
      index += 1
    }
    guard index > place + 1, bytes[index] == UInt8(ascii: ":"), index < end, maySearch else { return false }
    let name = place + 1..<index
    func isOne(of names: [StaticString]) -> Bool { names.contains { isSpelled(name, $0) } }
    let links = isOne(of: Self.linking)
    guard links || isOne(of: Self.leading) || isOne(of: Self.jumping) else {
      if format == .harlowe, place >= hiddenEnd {
        if let arguments = arguments(from: index + 1) {
          hiddenEnd = arguments.close + 1
          hide(place..<hiddenEnd)
        } else {
          noteFailure()
        }
      }
      return false
    }
    guard let arguments = arguments(from: index + 1) else {
      noteFailure()
      return false
    }
    let range = bytes.range(place, arguments.close + 1)
    var mark = TweeMark(.jump, range)
    if !isOne(of: Self.jumping), let target = literal(arguments.last) {
      mark = TweeMark(.macro, range, target: target.text)
      mark.isTargetEscaped = target.isEscaped
    }
    if links, let text = literal(arguments.first) {
      mark.text = text.text
      mark.isTextEscaped = text.isEscaped
    }
    add(mark)
    position = range.upperBound
    return true
  }

  /// Names of macros may be written with any case, hyphens and underscores.
  private func isSpelled(_ name: Range<Int>, _ spelling: StaticString) -> Bool {
    var matched = 0
    for byte in bytes.raw(name) where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
      guard matched < spelling.utf8CodeUnitCount, TweeBytes.lower(byte) == spelling.utf8Start[matched] else {
        return false
      }
      matched += 1
    }
    return matched == spelling.utf8CodeUnitCount
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

  /// The "'s" of `$bag's length`.
  private func isPossessive(_ place: Int) -> Bool {
    guard bytes[place] == UInt8(ascii: "'"), bytes[place + 1] == UInt8(ascii: "s") else { return false }
    return (TweeBytes.isWord(bytes[place - 1]) || bytes[place - 1] == UInt8(ascii: ")"))
      && TweeBytes.isSpace(bytes[place + 2])
  }
}
