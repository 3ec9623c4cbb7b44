/// Chapbook's variables, modifiers and inserts.
extension TweeScanner {
  /// Above a line "--" stand variables, not prose.
  mutating func skipVariables() {
    var lineStart = start
    while lineStart < end {
      let lineEnd = bytes.find(0x0A, from: lineStart, to: end) ?? end
      if bytes.equals(bytes.trimmed(bytes.range(lineStart, lineEnd)), "--") {
        hide(bytes.range(start, lineEnd))
        position = lineEnd
        return
      }
      lineStart = lineEnd + 1
    }
  }

  /// `[note]`, `[JavaScript]` and their like alone on a line: they change what follows, up to the next one.
  mutating func modifier() -> Bool {
    guard let names = modifierNames(at: position) else { return false }
    let lineEnd = endOfLine(position)
    func isOne(of words: StaticString...) -> Bool {
      words.contains {
        bytes.spells($0, at: names.lowerBound, to: names.upperBound)
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
      position = lineEnd
    }
    return true
  }

  private func modifierNames(at place: Int) -> Range<Int>? {
    let line = bytes.trimmed(bytes.range(place, bytes.find(0x0A, from: place, to: end) ?? end))
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

  /// `{link to: 'name', label: 'text'}`, `{embed passage: 'name'}`, `{reveal link: 'text', passage: 'name'}` and
  /// `{back link}` at the position.
  mutating func insert() -> Bool {
    let place = position
    guard TweeBytes.isLetter(bytes[place + 1]), place + 1 < end, maySearch else { return false }
    let isKnown = Self.inserts.contains { bytes.spells($0, at: place + 1, to: end) }
    guard isKnown || format == .chapbook else { return false }
    guard let close = insertEnd(from: place + 1) else {
      noteFailure()
      return false
    }
    let range = bytes.range(place, close + 1)
    func begins(_ words: StaticString) -> Bool { bytes.spells(words, at: place + 1, to: close) }
    var mark: TweeMark
    if begins("back link") {
      mark = TweeMark(.jump, range)
    } else if begins("link to:") {
      mark = insert(range, target: value(of: "link to:", in: range), label: "label:")
    } else if begins("embed passage:") {
      mark = insert(range, target: value(of: "embed passage:", in: range), label: nil)
    } else if begins("embed passage named:") {
      mark = insert(range, target: value(of: "embed passage named:", in: range), label: nil)
    } else if begins("reveal link:"), let target = value(of: "passage:", in: range) {
      mark = insert(range, target: target, label: "reveal link:")
    } else {
      mark = TweeMark(.hidden, range)
    }
    add(mark)
    position = range.upperBound
    return true
  }

  private static let inserts: [StaticString] = ["back link", "link to:", "embed passage", "reveal link:"]

  private func insert(_ range: Range<Int>, target: Range<Int>?, label: StaticString?) -> TweeMark {
    guard let target, let name = literal(target) else { return TweeMark(.jump, range) }
    // An address is written in quotes too.
    let isAddress = TweeTarget(bytes, name.text, format) == .address && !names.contains(bytes.raw(name.text))
    var mark = TweeMark(isAddress ? .external : .macro, range, target: name.text)
    mark.isTargetEscaped = name.isEscaped
    if let label, let value = value(of: label, in: range), let text = literal(value) {
      mark.text = text.text
      mark.isTextEscaped = text.isEscaped
    }
    return mark
  }

  /// What stands behind a key of an insert, up to the next comma.
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
      if bytes.spells(key, at: start, to: comma) { return bytes.range(start + key.utf8CodeUnitCount, comma) }
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
