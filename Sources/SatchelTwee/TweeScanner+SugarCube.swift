/// Scans SugarCube's macros.
extension TweeScanner {
  /// An argument of a macro.
  private enum Argument {
    /// A quoted string, or a word that is not a variable.
    case text(Range<Int>, isEscaped: Bool)
    /// A link or image in brackets.
    case link(TweeMarkup)
    case expression
  }

  /// Scans `<<name arguments>>` at the position.
  mutating func macro() -> Bool {
    let offset = position
    var index = offset + 2
    if bytes[index] == UInt8(ascii: "/") { index += 1 }
    let nameStart = index
    while index < end, TweeBytes.isWord(bytes[index]) || bytes[index] == UInt8(ascii: "-") { index += 1 }
    // "<<=" and "<<-" print.
    if index == nameStart, bytes[index] == UInt8(ascii: "=") { index += 1 }
    guard index > nameStart, let close = macroEnd(from: index) else { return false }
    let name = nameStart..<index
    let range = bytes.range(offset, close + 2)
    position = range.upperBound
    if bytes[offset + 2] != UInt8(ascii: "/") {
      handle(name, range, arguments: bytes.range(index, close))
    } else {
      hide(range)
      closeBody(name)
      endCondition(of: name)
    }
    return true
  }

  /// Returns the offset of the first ">>" outside of quotes.
  private mutating func macroEnd(from start: Int) -> Int? {
    guard canSearch else { return find(.macro, from: start) }
    var index = start
    while index < end {
      let byte = bytes[index]
      if byte == UInt8(ascii: ">"), bytes[index + 1] == byte, index + 1 < end { return index }
      index += 1
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`") {
        if let text = quoted(at: index - 1, to: end) {
          index = text.end
        } else {
          // An unbalanced quote, such as an apostrophe: ignores quotes.
          countFailure()
          return find(.macro, from: start)
        }
      }
    }
    countFailure()
    return find(.macro, from: start)
  }

  private mutating func handle(_ name: Range<Int>, _ range: Range<Int>, arguments: Range<Int>) {
    func isOne(of names: StaticString...) -> Bool { names.contains { bytes.equals(name, $0) } }
    var index = arguments.lowerBound
    if isOne(of: "goto") {
      lead(range, to: argument(&index, to: arguments.upperBound), isNeeded: true)
    } else if isOne(of: "include", "display") {
      include(range, argument(&index, to: arguments.upperBound))
    } else if isOne(of: "linkappend", "linkprepend", "linkreplace") {
      hide(range)
      open(text(of: argument(&index, to: arguments.upperBound)), until: .tag(name))
    } else if isOne(of: "link", "button", "click") {
      let first = argument(&index, to: arguments.upperBound)
      defer { open(text(of: first), until: .tag(name)) }
      if case .text(let text, let isEscaped) = first {
        lead(
          range, to: argument(&index, to: arguments.upperBound), text: text, isTextEscaped: isEscaped)
      } else if case .link = first {
        lead(range, to: first)
      } else {
        lead(range, to: argument(&index, to: arguments.upperBound))
      }
    } else if isOne(of: "choice") {
      let first = argument(&index, to: arguments.upperBound)
      if case .text(let text, let isEscaped) = argument(&index, to: arguments.upperBound) {
        lead(range, to: first, text: text, isTextEscaped: isEscaped, isNeeded: true)
      } else {
        lead(range, to: first, isNeeded: true)
      }
    } else if isOne(of: "actions") {
      hide(range)
      while let next = argument(&index, to: arguments.upperBound) { lead(range, to: next) }
    } else if isOne(of: "back", "return") {
      add(TweeMarkup(.jump, range))
    } else if isOne(of: "script"), let after = findEnd(.macroScript, from: position) {
      hideCode(range.lowerBound..<after)
    } else if format == .unknown, names.contains(bytes.raw(name)) {
      // Twine 1 displays a passage by a macro with its name.
      add(TweeMarkup(.include, range, target: name))
    } else {
      hide(range)
      scanCode(arguments)
      followCondition(name)
      // Conditions ask for passages, and do not lead there.
      if isOne(of: "if", "elseif", "switch", "case") { return }
      if isOne(of: "print", "=", "-") { addPrinted(arguments) }
      mention(arguments)
      noteUnknownCalls(arguments)
      if !isOne(of: "set", "run", "print", "=", "-", "for") {
        mentionWords(arguments)
        noteUnknownMacro(name)
      }
    }
  }

  private func text(of argument: Argument?) -> TweeLinkBody.Text? {
    switch argument {
    case .text(let text, let isEscaped): TweeLinkBody.Text(range: text, isEscaped: isEscaped)
    case .link(let link): link.text.map { TweeLinkBody.Text(range: $0, isEscaped: link.isTextEscaped) }
    case .expression, nil: nil
    }
  }

  /// Adds a macro that displays a passage.
  private mutating func include(_ range: Range<Int>, _ argument: Argument?) {
    switch argument {
    case .text(let name, let isEscaped):
      add(markup(.include, range, to: name, as: .string(isEscaped: isEscaped)))
    case .link(var link):
      link.range = range
      link.text = nil
      if link.kind == .link || link.kind == .macro { link.kind = .include }
      add(link)
    case .expression, nil:
      add(TweeMarkup(.jump, range))
      mention(range)
    }
  }

  /// Adds a macro that leads to a target.
  ///
  /// - Parameter isNeeded: whether the macro requires an argument; without it, its target is unknown
  private mutating func lead(
    _ range: Range<Int>, to target: Argument?, text: Range<Int>? = nil, isTextEscaped: Bool = false,
    isNeeded: Bool = false
  ) {
    var markup: TweeMarkup
    switch target {
    case .text(let name, let isEscaped):
      markup = self.markup(
        .macro, range, text: text.map { TweeLinkBody.Text(range: $0, isEscaped: isTextEscaped) }, to: name,
        as: .string(isEscaped: isEscaped))
    case .link(let link):
      markup = link
      markup.range = range
      if markup.kind == .link { markup.kind = .macro }
    case .expression:
      markup = TweeMarkup(.jump, range, text: text)
      mention(range)
    case nil: markup = TweeMarkup(isNeeded ? .jump : .hidden, range, text: text)
    }
    addJump(markup)
  }

  private mutating func argument(_ index: inout Int, to end: Int) -> Argument? {
    index = bytes.skipSpace(from: index, to: end)
    guard index < end else { return nil }
    let start = index
    if bytes[index] == UInt8(ascii: "[") {
      let isLink = bytes[index + 1] == UInt8(ascii: "[")
      if let markup = isLink ? link(at: index) : image(at: index), markup.range.upperBound <= end {
        index = markup.range.upperBound
        return .link(markup)
      }
    }
    if let text = quoted(at: index, to: end) {
      index = text.end
      let isAlone = index == end || TweeBytes.isSpace(bytes[index])
      return isAlone && bytes[start] != UInt8(ascii: "`")
        ? .text(text.text, isEscaped: text.isEscaped) : .expression
    }
    while index < end, !TweeBytes.isSpace(bytes[index]) { index += 1 }
    let word = bytes.range(start, index)
    if case .expression = target(word, as: .unquoted) { return .expression }
    return .text(word, isEscaped: false)
  }
}
