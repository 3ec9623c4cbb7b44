/// Scans Chapbook's variables, modifiers and inserts.
extension TweeScanner {
  /// Skips the variables section, which ends with a line "--".
  mutating func skipVariables() {
    var lineStart = start
    while lineStart < end {
      let lineEnd = bytes.find(0x0A, from: lineStart, to: end) ?? end
      if bytes.equals(bytes.trimmed(bytes.range(lineStart, lineEnd)), "--") {
        hide(bytes.range(start, lineEnd))
        mention(start..<lineEnd)
        position = lineEnd
        return
      }
      lineStart = lineEnd + 1
    }
  }

  /// Scans a modifier on its own line, such as `[note]` or `[JavaScript]`: it applies to the text up to the
  /// next modifier.
  mutating func modifier() -> Bool {
    guard let names = modifierNames(at: position) else { return false }
    let lineEnd = endOfLine(position)
    followModifier(names)
    func isOne(of words: StaticString...) -> Bool {
      words.contains {
        bytes.matches($0, at: names.lowerBound, to: names.upperBound)
          && !TweeBytes.isWord(bytes[names.lowerBound + $0.utf8CodeUnitCount])
      }
    }
    if isOne(of: "note", "n.b.", "fixme", "todo", "css") {
      let next = nextModifier(from: lineEnd)
      hide(position..<next)
      position = next
    } else if isOne(of: "javascript") {
      hideCode(position..<nextModifier(from: lineEnd))
    } else {
      hide(position..<lineEnd)
      mention(position..<lineEnd)
      position = lineEnd
    }
    return true
  }

  private func modifierNames(at offset: Int) -> Range<Int>? {
    let line = bytes.trimmed(bytes.range(offset, bytes.find(0x0A, from: offset, to: end) ?? end))
    guard line.count > 2, bytes[line.lowerBound] == UInt8(ascii: "["),
      bytes[line.lowerBound + 1] != UInt8(ascii: "["), bytes[line.upperBound - 1] == UInt8(ascii: "]"),
      bytes[line.upperBound - 2] != UInt8(ascii: "]")
    else { return nil }
    return bytes.trimmed(bytes.range(line.lowerBound + 1, line.upperBound - 1))
  }

  private func nextModifier(from start: Int) -> Int {
    var lineEnd = start
    while lineEnd < end {
      if bytes[lineEnd + 1] == UInt8(ascii: "["), modifierNames(at: lineEnd + 1) != nil { return lineEnd + 1 }
      lineEnd = bytes.find(0x0A, from: lineEnd + 1, to: end) ?? end
    }
    return end
  }

  /// Scans `{link to: 'name', label: 'text'}`, `{embed passage: 'name'}`, `{reveal link: 'text', passage:
  /// 'name'}` and `{back link}` at the position.
  mutating func insert() -> Bool {
    let offset = position
    guard TweeBytes.isLetter(bytes[offset + 1]), offset + 1 < end, canSearch else { return false }
    let isKnown = Self.inserts.contains { bytes.matches($0, at: offset + 1, to: end) }
    guard isKnown || format == .chapbook else { return false }
    guard let close = insertEnd(from: offset + 1) else {
      countFailure()
      return false
    }
    let range = bytes.range(offset, close + 1)
    func begins(_ words: StaticString) -> Bool { bytes.matches(words, at: offset + 1, to: close) }
    var markup: TweeMarkup
    if begins("back link") {
      markup = TweeMarkup(.jump, range)
    } else if begins("link to:") {
      markup = insert(range, target: value(of: "link to:", in: range), label: "label:")
    } else if begins("embed passage:") {
      markup = include(range, value(of: "embed passage:", in: range))
    } else if begins("embed passage named:") {
      markup = include(range, value(of: "embed passage named:", in: range))
    } else if begins("reveal link:"), let target = value(of: "passage:", in: range) {
      markup = include(range, target)
    } else {
      markup = TweeMarkup(.hidden, range)
    }
    add(markup)
    if markup.kind == .hidden || markup.kind == .jump { mention(range) }
    position = range.upperBound
    return true
  }

  private static let inserts: [StaticString] = ["back link", "link to:", "embed passage", "reveal link:"]

  /// Returns an insert that displays a passage.
  private func include(_ range: Range<Int>, _ target: Range<Int>?) -> TweeMarkup {
    var markup = insert(range, target: target, label: nil)
    if markup.kind == .macro { markup.kind = .include }
    return markup
  }

  private func insert(_ range: Range<Int>, target: Range<Int>?, label: StaticString?) -> TweeMarkup {
    guard let target, let name = literal(target) else { return TweeMarkup(.jump, range) }
    var markup = markup(.macro, range, to: name.text, as: .string(isEscaped: name.isEscaped))
    if let label, let value = value(of: label, in: range), let text = literal(value) {
      markup.text = text.text
      markup.isTextEscaped = text.isEscaped
    }
    return markup
  }

  /// Returns the value after a key of an insert, up to the next comma.
  private func value(of key: StaticString, in range: Range<Int>) -> Range<Int>? {
    var index = range.lowerBound + 1
    let close = range.upperBound - 1
    while index < close {
      let start = bytes.skipSpace(from: index, to: close)
      var comma = start
      while comma < close, bytes[comma] != UInt8(ascii: ",") {
        let isQuote = bytes[comma] == UInt8(ascii: "'") || bytes[comma] == UInt8(ascii: "\"")
        comma = isQuote ? quoted(at: comma, to: close)?.end ?? comma + 1 : comma + 1
      }
      if bytes.matches(key, at: start, to: comma) { return bytes.range(start + key.utf8CodeUnitCount, comma) }
      index = comma + 1
    }
    return nil
  }

  private func insertEnd(from start: Int) -> Int? {
    var index = start
    while index < end, bytes[index] != UInt8(ascii: "}") {
      guard bytes[index] == UInt8(ascii: "'") || bytes[index] == UInt8(ascii: "\"") else {
        index += 1
        continue
      }
      guard let text = quoted(at: index, to: end) else { return nil }
      index = text.end
    }
    return index < end ? index : nil
  }
}
