/// Calls of JavaScript that lead to a passage.
extension TweeScanner {
  private static let leading: [StaticString] = [
    "engine.play", "engine.display", "engine.goto", "state.display", "story.show", "story.display",
  ]
  /// Where these lead depends on what was read before.
  private static let jumping: [StaticString] = [
    "engine.backward", "engine.forward", "engine.go", "history.back", "history.go",
  ]

  /// A call whose "(" is at the position.
  mutating func parenthesis() {
    if !call(at: position, to: end), format.may(be: .harlowe), harloweMacro() { return }
    position += 1
  }

  /// The jumps of code.
  mutating func scanCode(_ range: Range<Int>) {
    var index = range.lowerBound
    while let found = bytes.find(UInt8(ascii: "("), from: index, to: range.upperBound) {
      _ = call(at: found, to: range.upperBound)
      index = found + 1
    }
  }

  /// Notes the call whose "(" stands at a place, when it is one that leads on.
  private mutating func call(at place: Int, to end: Int) -> Bool {
    // All names end in one of these.
    guard place > start, "yowtdk".utf8.contains(TweeBytes.lower(bytes[place - 1])) else { return false }
    if Self.jumping.contains(where: { isNamed($0, before: place) }) {
      add(TweeMark(.jump, place..<place + 1))
      return true
    }
    guard
      Self.leading.contains(where: { isNamed($0, before: place) })
        || (format == .chapbook && isNamed("go", before: place))
    else { return false }
    let argument = bytes.skipSpace(from: place + 1, to: end)
    guard bytes[argument] != UInt8(ascii: "`"), let name = quoted(at: argument, to: end) else {
      add(TweeMark(.jump, place..<place + 1))
      return true
    }
    let behind = bytes[bytes.skipSpace(from: name.end, to: end)]
    let isWhole = behind == UInt8(ascii: ")") || behind == UInt8(ascii: ",")
    var mark = TweeMark(isWhole ? .macro : .jump, place..<place + 1, target: name.text)
    mark.isTargetEscaped = name.isEscaped
    add(mark)
    return true
  }

  /// Whether the name that ends before a place is this one, whatever objects it belongs to.
  private func isNamed(_ name: StaticString, before place: Int) -> Bool {
    let first = place - name.utf8CodeUnitCount
    guard first >= start, bytes.spells(name, at: first, to: place) else { return false }
    return first == start || !TweeBytes.isWord(bytes[first - 1])
  }

  /// `data-passage="name"` of SugarCube and Snowman; with "@" before it, an expression.
  mutating func attribute() {
    let place = position
    position += 1
    let first = place - 12
    guard format.may(be: .sugarCube, .snowman), first >= start,
      bytes.spells("data-passage", at: first, to: place),
      let name = quoted(at: place + 1, to: endOfLine(place))
    else { return }
    let isExpression = first > start && bytes[first - 1] == UInt8(ascii: "@")
    let isTemplate = bytes.find("<%", from: name.text.lowerBound, to: name.text.upperBound) != nil
    add(TweeMark(isExpression || isTemplate ? .jump : .macro, first..<name.end, target: name.text))
    position = name.end
  }
}
