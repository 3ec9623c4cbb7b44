extension TweeScanner {
  /// Scans `[[...]]`, `[img[...][...]]`, and Chapbook's `[modifier]`.
  mutating func bracket() {
    if format == .chapbook, isLineStart(position), modifier() { return }
    guard bytes[position + 1] == UInt8(ascii: "["), position + 1 < end else {
      if format.may(be: .sugarCube), let markup = image(at: position) {
        add(markup)
        position = markup.range.upperBound
      } else {
        openHook(at: position)
        position += 1
      }
      return
    }
    // "[[[text->name]]]" is a link in a hook: the last two brackets start the link.
    if bytes[position + 2] == UInt8(ascii: "["), position + 2 < end {
      openHook(at: position)
      position += 1
    } else if let markup = link(at: position) {
      add(markup)
      if markup.kind == .jump || bytes[markup.range.upperBound - 3] == UInt8(ascii: "]") {
        mention(markup.range)
      }
      position = markup.range.upperBound
    } else {
      openHook(at: position)
      openHook(at: position + 1)
      position += 2
    }
  }

  /// Returns the link that starts at an offset, with an optional setter, which is no part of its target.
  mutating func link(at offset: Int) -> TweeMarkup? {
    var index = offset + 2
    while let close = closingBracket(from: index) {
      if bytes[close + 1] == UInt8(ascii: "]"), close + 1 < end {
        return link(bytes.range(offset + 2, close), in: bytes.range(offset, close + 2))
      }
      if bytes[close + 1] == UInt8(ascii: "["), canSearch {
        if let after = setter(from: close + 2) {
          return link(bytes.range(offset + 2, close), in: bytes.range(offset, after))
        }
        countFailure()
      }
      index = close + 1
    }
    return nil
  }

  /// Returns the offset after the "]]" of a setter, whose inner brackets must be balanced.
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

  private func link(_ content: Range<Int>, in range: Range<Int>) -> TweeMarkup? {
    let content = bytes.trimmed(content)
    guard !content.isEmpty else { return nil }
    let parts = split(content)
    return markup(
      .link, range, text: TweeLinkBody.Text(range: bytes.trimmed(parts.text)), to: parts.target, as: .unquoted
    )
  }

  /// Returns the target of a link, by what is between its brackets.
  func splitTarget(_ content: Range<Int>) -> Range<Int> {
    // With a setter, it ends at the first bracket.
    let end =
      bytes.find(UInt8(ascii: "]"), from: content.lowerBound, to: content.upperBound) ?? content.upperBound
    return split(bytes.range(content.lowerBound, end)).target
  }

  /// Splits `text->name`, `name<-text`, `text|name` or `name`.
  ///
  /// In SugarCube the first separator counts. In other formats an arrow takes precedence over the bar; of
  /// arrows to the right the last one counts, of arrows to the left the first one.
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

  /// Returns SugarCube's image link: `[img[source][name]]`, with an optional `<` or `>` before img, and an
  /// optional setter.
  mutating func image(at offset: Int) -> TweeMarkup? {
    let first = bytes[offset + 1]
    let isAligned = first == UInt8(ascii: "<") || first == UInt8(ascii: ">")
    let inside = offset + (isAligned ? 6 : 5)
    guard bytes.matches("img[", at: inside - 4, to: end), let source = closingBracket(from: inside) else {
      return nil
    }
    if let after = source + 1 < end ? bytes[source + 1] : nil, "[]".utf8.contains(after) {
      addImage(bytes.range(inside, source))
    }
    guard bytes[source + 1] == UInt8(ascii: "["), let close = closingBracket(from: source + 2)
    else { return nil }
    let target = bytes.trimmed(bytes.range(source + 2, close))
    if bytes[close + 1] == UInt8(ascii: "]"), close + 1 < end {
      return markup(.macro, bytes.range(offset, close + 2), to: target, as: .unquoted)
    }
    guard bytes[close + 1] == UInt8(ascii: "["), canSearch, let after = setter(from: close + 2) else {
      countFailure()
      return nil
    }
    return markup(.macro, bytes.range(offset, after), to: target, as: .unquoted)
  }

  /// Adds the links in the strings of code that prints them.
  mutating func addPrinted(_ range: Range<Int>) {
    var index = range.lowerBound
    while index < range.upperBound {
      guard "\"'`".utf8.contains(bytes[index]), canSearch else {
        index += 1
        continue
      }
      guard let string = quoted(at: index, to: range.upperBound) else {
        countFailure()
        index += 1
        continue
      }
      var inner = string.text.lowerBound
      while let open = bytes.find("[[", from: inner, to: string.text.upperBound) {
        inner = open + 2
        guard let link = link(at: open), link.range.upperBound <= string.text.upperBound else { continue }
        add(link)
        inner = link.range.upperBound
      }
      index = string.end
    }
  }
}
