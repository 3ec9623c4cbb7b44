/// JavaScript calls that lead to a passage.
extension TweeScanner {
  private static let leading: [StaticString] = [
    "engine.play", "engine.display", "engine.goto", "state.display", "story.show", "story.display",
  ]
  /// Calls whose target depends on the history.
  private static let jumping: [StaticString] = [
    "engine.backward", "engine.forward", "engine.go", "history.back", "history.go",
  ]

  /// Scans a call whose "(" is at the position.
  mutating func parenthesis() {
    if !call(at: position, to: end), format.may(be: .harlowe), harloweMacro() { return }
    position += 1
  }

  /// Adds the jumps in JavaScript code.
  mutating func scanCode(_ range: Range<Int>) {
    var index = range.lowerBound
    while let found = bytes.find(UInt8(ascii: "("), from: index, to: range.upperBound) {
      _ = call(at: found, to: range.upperBound)
      index = found + 1
    }
  }

  /// Adds the call whose "(" is at an offset, when it leads to a passage.
  private mutating func call(at offset: Int, to end: Int) -> Bool {
    // All names end with one of these letters.
    guard offset > start, "yowtdk".utf8.contains(TweeBytes.lower(bytes[offset - 1])) else { return false }
    if Self.jumping.contains(where: { isNamed($0, before: offset) }) {
      add(TweeMarkup(.jump, offset..<offset + 1))
      return true
    }
    guard
      Self.leading.contains(where: { isNamed($0, before: offset) })
        || (format == .chapbook && isNamed("go", before: offset))
    else { return false }
    let argument = bytes.skipSpace(from: offset + 1, to: end)
    guard bytes[argument] != UInt8(ascii: "`"), let name = quoted(at: argument, to: end) else {
      add(TweeMarkup(.jump, offset..<offset + 1))
      return true
    }
    let after = bytes[bytes.skipSpace(from: name.end, to: end)]
    let isWhole = after == UInt8(ascii: ")") || after == UInt8(ascii: ",")
    var markup = TweeMarkup(isWhole ? .macro : .jump, offset..<offset + 1, target: name.text)
    markup.isTargetEscaped = name.isEscaped
    add(markup)
    return true
  }

  /// Whether the name that ends before an offset is this one, on any object.
  private func isNamed(_ name: StaticString, before offset: Int) -> Bool {
    let first = offset - name.utf8CodeUnitCount
    guard first >= start, bytes.matches(name, at: first, to: offset) else { return false }
    return first == start || !TweeBytes.isWord(bytes[first - 1])
  }

  /// Scans the attribute `data-passage="name"` of SugarCube and Snowman; with a preceding "@" it is an
  /// expression.
  mutating func attribute() {
    let offset = position
    position += 1
    let first = offset - 12
    guard format.may(be: .sugarCube, .snowman), first >= start,
      bytes.matches("data-passage", at: first, to: offset),
      let name = quoted(at: offset + 1, to: endOfLine(offset))
    else { return }
    let isExpression = first > start && bytes[first - 1] == UInt8(ascii: "@")
    let isTemplate = bytes.find("<%", from: name.text.lowerBound, to: name.text.upperBound) != nil
    add(TweeMarkup(isExpression || isTemplate ? .jump : .macro, first..<name.end, target: name.text))
    position = name.end
  }
}
