extension TweeScanner {
  /// `[[...]]`, `[img[...][...]]`, and Chapbook's `[modifier]`.
  mutating func bracket() {
    if format == .chapbook, isLineStart(position), modifier() { return }
    guard bytes[position + 1] == UInt8(ascii: "["), position + 1 < end else {
      if format.may(be: .sugarCube), let mark = image(at: position) {
        add(mark)
        position = mark.range.upperBound
      } else {
        position += 1
      }
      return
    }
    // "[[[text->name]]]" is a link in a hook: the last two count.
    if bytes[position + 2] == UInt8(ascii: "["), position + 2 < end {
      position += 1
    } else if let mark = link(at: position) {
      add(mark)
      position = mark.range.upperBound
    } else {
      position += 2
    }
  }

  /// A link that begins at a place, with SugarCube's setter.
  mutating func link(at place: Int) -> TweeMark? {
    var index = place + 2
    while let close = closingBracket(from: index) {
      if bytes[close + 1] == UInt8(ascii: "]"), close + 1 < end {
        return link(bytes.range(place + 2, close), in: bytes.range(place, close + 2))
      }
      if bytes[close + 1] == UInt8(ascii: "["), format.may(be: .sugarCube), maySearch {
        if let behind = setter(from: close + 2) {
          return link(bytes.range(place + 2, close), in: bytes.range(place, behind))
        }
        noteFailure()
      }
      index = close + 1
    }
    return nil
  }

  /// Behind the "]]" of a setter, whose own brackets are in pairs.
  private mutating func setter(from start: Int) -> Int? {
    let lineEnd = endOfLine(start)
    var depth = 1
    var index = start
    while index < lineEnd {
      if bytes[index] == UInt8(ascii: "[") { depth += 1 }
      if bytes[index] == UInt8(ascii: "]") { depth -= 1 }
      index += 1
      if depth == 0 { return bytes[index] == UInt8(ascii: "]") && index < lineEnd ? index + 1 : nil }
    }
    return nil
  }

  private func link(_ content: Range<Int>, in range: Range<Int>) -> TweeMark? {
    let content = bytes.trimmed(content)
    guard !content.isEmpty else { return nil }
    let parts = split(content)
    return mark(.link, range, text: bytes.trimmed(parts.text), target: bytes.trimmed(parts.target))
  }

  /// `text->name`, `name<-text`, `text|name` or `name`.
  ///
  /// In SugarCube the first separator counts. Elsewhere an arrow comes before the bar; of arrows to the right the
  /// last counts, of those to the left the first.
  private func split(_ content: Range<Int>) -> (text: Range<Int>, target: Range<Int>) {
    var right: Int?
    var left: Int?
    var bar: Int?
    for index in content {
      let next = index + 1 < content.upperBound ? bytes[index + 1] : 0
      switch bytes[index] {
      case UInt8(ascii: "-") where next == UInt8(ascii: ">"): right = index
      case UInt8(ascii: "<") where next == UInt8(ascii: "-"): left = left ?? index
      case UInt8(ascii: "|"): bar = bar ?? index
      default: continue
      }
      if format == .sugarCube { break }
    }
    if let right {
      return (bytes.range(content.lowerBound, right), bytes.range(right + 2, content.upperBound))
    }
    if let left { return (bytes.range(left + 2, content.upperBound), bytes.range(content.lowerBound, left)) }
    if let bar { return (bytes.range(content.lowerBound, bar), bytes.range(bar + 1, content.upperBound)) }
    return (content, content)
  }

  /// SugarCube's picture that is a link: `[img[source][name]]`, with `<` or `>` before img, and a setter.
  mutating func image(at place: Int) -> TweeMark? {
    let first = bytes[place + 1]
    let isAligned = first == UInt8(ascii: "<") || first == UInt8(ascii: ">")
    let inside = place + (isAligned ? 6 : 5)
    guard bytes.spells("img[", at: inside - 4, to: end), let source = closingBracket(from: inside),
      bytes[source + 1] == UInt8(ascii: "["), let close = closingBracket(from: source + 2)
    else { return nil }
    let target = bytes.trimmed(bytes.range(source + 2, close))
    if bytes[close + 1] == UInt8(ascii: "]"), close + 1 < end {
      return mark(.macro, bytes.range(place, close + 2), target: target)
    }
    guard bytes[close + 1] == UInt8(ascii: "["), maySearch, let behind = setter(from: close + 2) else {
      noteFailure()
      return nil
    }
    return mark(.macro, bytes.range(place, behind), target: target)
  }

  /// A link or macro to what stands there without quotes: a name, an address or an expression.
  func mark(_ kind: TweeMark.Kind, _ range: Range<Int>, text: Range<Int>? = nil, target: Range<Int>)
    -> TweeMark
  {
    switch TweeTarget(bytes, target, format) {
    case .address where !names.contains(bytes.raw(target)):
      return TweeMark(.external, range, text: text, target: target)
    case .expression where !names.contains(bytes.raw(target)):
      if format == .sugarCube, let literal = literal(target) {
        var mark = TweeMark(kind, range, text: text, target: literal.text)
        mark.isTargetEscaped = literal.isEscaped
        return mark
      }
      return TweeMark(.jump, range, text: text, target: target)
    default: return TweeMark(kind, range, text: text, target: target)
    }
  }
}
