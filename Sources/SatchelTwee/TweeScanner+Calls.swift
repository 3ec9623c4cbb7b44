/// JavaScript calls that lead to a passage.
extension TweeScanner {
  private static let leading: [StaticString] = [
    "engine.play", "engine.display", "engine.goto", "state.display", "story.show", "story.display",
  ]
  /// Calls that display a passage as a part of this one.
  private static let including: [StaticString] = ["story.render", "rendertoselector"]
  /// Calls whose target depends on the history.
  private static let jumping: [StaticString] = [
    "engine.backward", "engine.forward", "engine.go", "history.back", "history.go", "engine.restart",
    "ui.restart",
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
    if format.may(be: .sugarCube) { scanWikiText(range) }
  }

  /// Adds the jumps in the macros that code renders, as in `$.wiki('<<goto "name">>')`.
  private mutating func scanWikiText(_ range: Range<Int>) {
    var index = range.lowerBound
    while let found = bytes.find("<<goto", from: index, to: range.upperBound) {
      index = found + 6
      let argument = bytes.skipSpace(from: index, to: range.upperBound)
      guard let name = quoted(at: argument, to: endOfLine(argument)) else { continue }
      addJump(markup(.macro, found..<index, to: name.text, as: .string(isEscaped: name.isEscaped)))
    }
  }

  /// Adds the call whose "(" is at an offset, when it leads to a passage.
  private mutating func call(at offset: Int, to end: Int) -> Bool {
    // All names end with one of these letters.
    guard offset > start, "yowtdkr".utf8.contains(TweeBytes.lower(bytes[offset - 1])) else { return false }
    if Self.jumping.contains(where: { isNamed($0, before: offset) }) {
      addJump(TweeMarkup(.jump, offset..<offset + 1))
      return true
    }
    let includes = Self.including.contains { isNamed($0, before: offset) }
    guard
      includes || Self.leading.contains(where: { isNamed($0, before: offset) })
        || (format == .chapbook && isNamed("go", before: offset))
    else { return false }
    var argument = bytes.skipSpace(from: offset + 1, to: end)
    // Its first argument is the selector of an element.
    if isNamed("rendertoselector", before: offset), let selector = quoted(at: argument, to: end) {
      let comma = bytes.skipSpace(from: selector.end, to: end)
      if bytes[comma] == UInt8(ascii: ",") { argument = bytes.skipSpace(from: comma + 1, to: end) }
    }
    guard bytes[argument] != UInt8(ascii: "`"), let name = quoted(at: argument, to: end) else {
      addJump(TweeMarkup(.jump, offset..<offset + 1))
      return true
    }
    let after = bytes[bytes.skipSpace(from: name.end, to: end)]
    let isWhole = after == UInt8(ascii: ")") || after == UInt8(ascii: ",")
    let kind: TweeMarkup.Kind = includes ? .include : .macro
    let markup =
      isWhole
      ? markup(kind, offset..<offset + 1, to: name.text, as: .string(isEscaped: name.isEscaped))
      : TweeMarkup(.jump, offset..<offset + 1)
    if includes { add(markup) } else { addJump(markup) }
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
    // The passage of a picture or a sound, which is no link.
    if offset < tagEnd, hasFile(tagStart) { return }
    let isExpression =
      first > start && bytes[first - 1] == UInt8(ascii: "@")
      || bytes.matches("sc-eval:", at: first - 8, to: first) && first - 8 >= start
    if isExpression, literal(name.text) == nil {
      addJump(TweeMarkup(.jump, first..<name.end, target: name.text))
    } else {
      let isTemplate = bytes.find("<%", from: name.text.lowerBound, to: name.text.upperBound) != nil
      addJump(
        isTemplate
          ? TweeMarkup(.jump, first..<name.end, target: name.text)
          : markup(.macro, first..<name.end, to: name.text, as: .attribute))
    }
    position = name.end
  }

  // MARK: - Code of elsewhere

  /// Notes a macro that neither the format nor the game defines: it may lead anywhere.
  mutating func noteUnknownMacro(_ name: Range<Int>) {
    guard format == .sugarCube, !Self.macros.contains(where: { bytes.equals(name, $0) }) else { return }
    if !names.isDefined(name) { loadsCode = true }
  }

  /// Notes calls of functions that neither the format nor the game defines: they may lead anywhere, or print links.
  mutating func noteUnknownCalls(_ range: Range<Int>) {
    guard format == .sugarCube || format == .snowman else { return }
    var index = range.lowerBound
    while !loadsCode, let found = bytes.find(UInt8(ascii: "("), from: index, to: range.upperBound) {
      index = found + 1
      var first = found
      while first > range.lowerBound, TweeBytes.isWord(bytes[first - 1]) { first -= 1 }
      let name = first..<found
      while first > range.lowerBound,
        TweeBytes.isWord(bytes[first - 1]) || bytes[first - 1] == UInt8(ascii: ".")
      {
        first -= 1
      }
      // Functions of objects of the language and of libraries lead nowhere.
      let isOwn = ["setup.", "window."].contains { (object: StaticString) in
        bytes.matches(object, at: first, to: found)
      }
      let isKnown = names.isDefined(name) || Self.functions.contains { bytes.equals(name, $0) }
      if isOwn, !name.isEmpty, !isKnown { loadsCode = true }
    }
  }

  /// SugarCube's macros.
  private static let macros: [StaticString] = [
    "if", "elseif", "else", "switch", "case", "default", "for", "break", "continue", "set", "unset",
    "remember",
    "forget", "capture", "run", "script", "print", "display", "include", "nobr", "silently", "silent", "type",
    "actions", "back", "button", "checkbox", "choice", "click", "link", "linkappend", "linkprepend",
    "linkreplace",
    "listbox", "numberbox", "radiobutton", "return", "textarea", "textbox", "cycle", "option", "optionsfrom",
    "append", "copy", "prepend", "remove", "replace", "addclass", "removeclass", "toggleclass", "audio",
    "cacheaudio", "createaudiogroup", "createplaylist", "masteraudio", "playlist", "removeaudiogroup",
    "removeplaylist", "waitforaudio", "setplaylist", "stopallaudio", "done", "do", "redo", "goto", "repeat",
    "stop",
    "timed", "next", "widget",
  ]
  /// Functions that browsers define.
  private static let functions: [StaticString] = [
    "alert", "confirm", "open", "print", "scroll", "scrollTo", "setTimeout", "addEventListener", "getItem",
    "setItem",
  ]
}
