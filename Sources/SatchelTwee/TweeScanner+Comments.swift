extension TweeScanner {
  /// Scans `/* */` and `/% %/`.
  mutating func slash() {
    let next = position + 1 < end ? bytes[position + 1] : 0
    if next == UInt8(ascii: "*"), format.may(be: .sugarCube, .snowman), hide(to: .comment, from: position + 2)
    {
      return
    }
    if next == UInt8(ascii: "%"), format.may(be: .sugarCube), hide(to: .percentComment, from: position + 2) {
      return
    }
    position += 1
  }

  /// Scans SugarCube's `"""` around verbatim text.
  mutating func quotes() {
    guard format == .sugarCube, bytes.matches("\"\"\"", at: position, to: end),
      let after = findEnd(.quotes, from: position + 3)
    else {
      position += 1
      return
    }
    position = after
  }

  /// Scans Harlowe's runs of backticks around verbatim text.
  mutating func backtick() {
    var inside = position
    while inside < end, bytes[inside] == UInt8(ascii: "`") { inside += 1 }
    let length = inside - position
    guard format == .harlowe, canSearch else {
      position = inside
      return
    }
    var index = inside
    var run = 0
    while index < end {
      run = bytes[index] == UInt8(ascii: "`") ? run + 1 : 0
      index += 1
      if run == length, bytes[index] != UInt8(ascii: "`") || index == end {
        position = index
        return
      }
    }
    countFailure()
    position = inside
  }

  /// Scans `<<macro>>`, `<!-- -->`, `<% %>`, and elements whose content is not prose.
  mutating func angle() {
    let next = position + 1 < end ? bytes[position + 1] : 0
    switch next {
    case UInt8(ascii: "<"): if format.may(be: .sugarCube), macro() { return }
    case UInt8(ascii: "!"):
      if bytes.matches("<!--", at: position, to: end), hide(to: .markupComment, from: position + 4) { return }
    case UInt8(ascii: "%"):
      if format.may(be: .snowman), let after = findEnd(.template, from: position + 2) {
        let template = position..<after
        hideCode(template)
        addPrinted(template)
        noteUnknownCalls(template)
        followBraces(template)
        return
      }
    case UInt8(ascii: "n"), UInt8(ascii: "N"):
      if format.may(be: .sugarCube), bytes.matches("<nowiki>", at: position, to: end),
        let after = findEnd(.noWiki, from: position + 8)
      {
        position = after
        return
      }
    case UInt8(ascii: "s"), UInt8(ascii: "S"):
      if isElement("<script", 7), let after = findEnd(.script, from: position + 7) {
        let tagEnd = bytes.find(UInt8(ascii: ">"), from: position, to: after) ?? after
        if bytes.find(" src=", from: position, to: tagEnd) != nil { loadsCode = true }
        hideCode(position..<after)
        return
      }
      if isElement("<style", 6), hide(to: .style, from: position + 6) { return }
    default: break
    }
    if TweeBytes.isLetter(next) { tag() }
    position += 1
  }

  private func isElement(_ name: StaticString, _ length: Int) -> Bool {
    guard bytes.matches(name, at: position, to: end) else { return false }
    let next = bytes[position + length]
    return next == UInt8(ascii: ">") || TweeBytes.isSpace(next)
  }

  /// Skips code, and adds its jumps.
  mutating func hideCode(_ range: Range<Int>) {
    hide(range)
    scanCode(range)
    mention(range)
    position = range.upperBound
  }

  /// Scans `{{{ }}}`, and Chapbook's inserts.
  mutating func brace() {
    if format.may(be: .sugarCube), bytes.matches("{{{", at: position, to: end),
      let after = findEnd(.braces, from: position + 3)
    {
      position = after
    } else if !format.may(be: .chapbook) || !insert() {
      position += 1
    }
  }
}
