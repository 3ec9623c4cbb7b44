/// A link whose body is being scanned.
struct TweeLinkBody {
  /// The visible text of a link.
  struct Text {
    var range: Range<Int>
    var isEscaped = false
  }

  enum End {
    /// SugarCube: the closing tag of a macro.
    case tag(Range<Int>)
    /// Harlowe: the "]" that leaves this many hooks open.
    case hook(depth: Int)
  }

  var text: Text?
  var end: End
}

/// Follows the bodies of links: `<<link "text">>…<</link>>`, `(link: "text")[…]` and `<a …>text</a>`.
extension TweeScanner {
  /// The maximum depth of nested links; deeper ones have no text.
  private static let maxDepth = 64

  mutating func open(_ text: TweeLinkBody.Text?, until end: TweeLinkBody.End) {
    if bodies.count < Self.maxDepth { bodies.append(TweeLinkBody(text: text, end: end)) }
  }

  /// Ends the innermost body of a macro, and the unclosed ones inside it.
  mutating func closeBody(_ name: Range<Int>) {
    let found = bodies.lastIndex { body in
      guard case .tag(let tag) = body.end else { return false }
      return bytes.raw(tag).elementsEqual(bytes.raw(name))
    }
    if let found { bodies.removeSubrange(found...) }
  }

  /// Counts an opening bracket of Harlowe, which starts the body of a link if one is pending there.
  mutating func openHook(at offset: Int) {
    guard format.may(be: .harlowe) else { return }
    if let hook = pendingHook, hook.offset == offset {
      switch hook.kind {
      case .link(let text): open(text, until: .hook(depth: hookDepth))
      case .condition(let offersAll, let isElse):
        beginCondition(.hook(depth: hookDepth), offersAll: offersAll, isElse: isElse)
      }
      pendingHook = nil
    }
    hookDepth += 1
  }

  mutating func closeBracket() {
    position += 1
    guard hookDepth > 0 else { return }
    hookDepth -= 1
    while case .hook(let depth)? = bodies.last?.end, depth >= hookDepth { bodies.removeLast() }
    endHooks()
  }

  /// Adds a jump, with the text of the link or the element that it is in.
  mutating func addJump(_ markup: TweeMarkup) {
    var markup = markup
    if markup.text == nil {
      if markup.range.lowerBound < tagEnd, let text = tagText {
        markup.text = text
      } else if let text = bodies.last?.text {
        markup.text = text.range
        markup.isTextEscaped = text.isEscaped
      }
    }
    add(markup)
  }

  /// Notes the names in the attributes of an HTML tag at the position, and the text of its element.
  mutating func tag() {
    guard position >= tagEnd, let close = find(.tag, from: position) else { return }
    (tagStart, tagEnd) = (position, close + 1)
    mention(position..<tagEnd)
    addFiles(of: position..<tagEnd)
    // The text up to the next tag, after those that only format it.
    var textStart = tagEnd
    for _ in 0..<4 where bytes[bytes.skipSpace(from: textStart, to: end)] == UInt8(ascii: "<") {
      guard TweeBytes.isLetter(bytes[bytes.skipSpace(from: textStart, to: end) + 1]),
        let next = bytes.find(UInt8(ascii: ">"), from: textStart, to: end)
      else { break }
      textStart = next + 1
    }
    guard let textEnd = bytes.find(UInt8(ascii: "<"), from: textStart, to: end) else {
      tagText = nil
      return
    }
    let text = bytes.trimmed(bytes.range(textStart, textEnd))
    tagText = text.isEmpty ? nil : text
  }
}

/// Finds the names of passages in code that is not understood.
extension TweeScanner {
  /// The maximum length of a name in bytes.
  private static let maxNameLength = 1000

  /// Adds a mention for each name in quotes, and for each link in code. Each quote is compared up to the next one of its kind, whether it
  /// opens or closes a string, so that quotes in quotes count too.
  mutating func mention(_ range: Range<Int>) {
    for quote in [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`")] {
      var open = bytes.find(quote, from: range.lowerBound, to: range.upperBound)
      while let start = open {
        let close = bytes.find(quote, from: start + 1, to: range.upperBound)
        if let close { mentionName(start + 1..<close) }
        open = close
      }
    }
    mentionLinks(range)
  }

  /// Adds a mention for each link in code that is not understood.
  private mutating func mentionLinks(_ range: Range<Int>) {
    var index = range.lowerBound
    var lineEnd = index
    while let open = bytes.find("[[", from: index, to: range.upperBound) {
      if open >= lineEnd { lineEnd = bytes.find(0x0A, from: open, to: range.upperBound) ?? range.upperBound }
      // A line without an end has no further link.
      guard let end = bytes.find("]]", from: open + 2, to: lineEnd) else {
        index = lineEnd
        continue
      }
      mentionName(bytes.trimmed(splitTarget(bytes.range(open + 2, end))))
      index = end
    }
  }

  /// Adds a mention for each word of a macro's arguments that is a name.
  mutating func mentionWords(_ range: Range<Int>) {
    var start = bytes.skipSpace(from: range.lowerBound, to: range.upperBound)
    while start < range.upperBound {
      var end = start
      while end < range.upperBound, !TweeBytes.isSpace(bytes[end]) { end += 1 }
      mentionName(start..<end)
      start = bytes.skipSpace(from: end, to: range.upperBound)
    }
  }

  private mutating func mentionName(_ name: Range<Int>) {
    guard !name.isEmpty, name.count <= Self.maxNameLength, names.contains(bytes.raw(name)) else { return }
    mentions.append(name)
    offer()
  }
}
