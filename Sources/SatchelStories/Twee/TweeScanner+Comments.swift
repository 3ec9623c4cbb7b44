extension TweeScanner {
  /// `/* */` and `/% %/`.
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

  /// SugarCube's `"""` around what is shown as it stands.
  mutating func quotes() {
    guard format == .sugarCube, bytes.spells("\"\"\"", at: position, to: end),
      let behind = findBehind(.quotes, from: position + 3)
    else {
      position += 1
      return
    }
    position = behind
  }

  /// Harlowe's runs of backticks around what is shown as it stands.
  mutating func backtick() {
    var inside = position
    while inside < end, bytes[inside] == UInt8(ascii: "`") { inside += 1 }
    let length = inside - position
    guard format == .harlowe, maySearch else {
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
    noteFailure()
    position = inside
  }

  /// `<<macro>>`, `<!-- -->`, `<% %>`, and the elements whose content is not prose.
  mutating func angle() {
    let next = position + 1 < end ? bytes[position + 1] : 0
    switch next {
    case UInt8(ascii: "<"): if format.may(be: .sugarCube), macro() { return }
    case UInt8(ascii: "!"):
      if bytes.spells("<!--", at: position, to: end), hide(to: .markupComment, from: position + 4) { return }
    case UInt8(ascii: "%"):
      if format.may(be: .snowman), let behind = findBehind(.template, from: position + 2) {
        hideCode(position..<behind)
        return
      }
    case UInt8(ascii: "n"), UInt8(ascii: "N"):
      if format.may(be: .sugarCube), bytes.spells("<nowiki>", at: position, to: end),
        let behind = findBehind(.noWiki, from: position + 8)
      {
        position = behind
        return
      }
    case UInt8(ascii: "s"), UInt8(ascii: "S"):
      if isElement("<script", 7), let behind = findBehind(.script, from: position + 7) {
        hideCode(position..<behind)
        return
      }
      if isElement("<style", 6), hide(to: .style, from: position + 6) { return }
    default: break
    }
    position += 1
  }

  private func isElement(_ name: StaticString, _ length: Int) -> Bool {
    guard bytes.spells(name, at: position, to: end) else { return false }
    let next = bytes[position + length]
    return next == UInt8(ascii: ">") || TweeBytes.isSpace(next)
  }

  /// Passes over code, in which only jumps count.
  mutating func hideCode(_ range: Range<Int>) {
    hide(range)
    scanCode(range)
    position = range.upperBound
  }

  /// `{{{ }}}`, and Chapbook's inserts.
  mutating func brace() {
    if format.may(be: .sugarCube), bytes.spells("{{{", at: position, to: end),
      let behind = findBehind(.braces, from: position + 3)
    {
      position = behind
    } else if !format.may(be: .chapbook) || !insert() {
      position += 1
    }
  }
}
