import SatchelStories

/// The kind of the target of a link, a macro, an attribute or a call of a script.
enum TweeTarget {
  /// A passage, by its name, whether it exists or not.
  case name(Range<Int>, TweeEncoding)
  /// An address outside of the story.
  case address
  /// A passage that is known only when the story is played.
  case expression

  /// Where a target is written.
  enum Form {
    /// Between the brackets of a link, or a word of a macro: evaluated when no passage has the name.
    case unquoted
    /// An attribute of HTML, which is treated as an unquoted target.
    case attribute
    /// A string of code.
    case string(isEscaped: Bool)
  }
}

extension TweeScanner {
  /// Decides what a target leads to.
  ///
  /// A target is a passage's name if there is such a passage: decoded, as it is, or without space around it. Only a
  /// target that does not look like a name has to be looked up.
  func target(_ range: Range<Int>, as form: TweeTarget.Form) -> TweeTarget {
    let trimmed = bytes.trimmed(range)
    var encoding = TweeEncoding.none
    switch form {
    case .string(let isEscaped): if isEscaped { encoding = .backslashes }
    case .attribute: if bytes.raw(trimmed).contains(UInt8(ascii: "&")) { encoding = .entities }
    case .unquoted: break
    }
    let name = TweeTarget.name(trimmed, encoding)
    if TweeTarget.isAddress(bytes, trimmed) {
      return isPassage(trimmed, encoding) ? name : .address
    }
    if case .string = form {
      // Templates are replaced in strings, too.
      let isTemplate =
        format.may(be: .snowman) && bytes.find("<%", from: trimmed.lowerBound, to: trimmed.upperBound) != nil
      return isTemplate && !isPassage(trimmed, encoding) ? .expression : name
    }
    guard TweeTarget.isExpression(trimmed, in: bytes, format), !isPassage(trimmed, encoding) else {
      return name
    }
    if format == .sugarCube, let literal = literal(trimmed) {
      return target(literal.text, as: .string(isEscaped: literal.isEscaped))
    }
    return .expression
  }

  private func isPassage(_ range: Range<Int>, _ encoding: TweeEncoding) -> Bool {
    switch encoding {
    case .none: return names.contains(bytes.raw(range))
    case .backslashes: return names.contains(TweeEscape.resolved(bytes.raw(range)))
    case .entities: return names.contains(TwineEntity.resolved(bytes, range))
    }
  }

  /// Returns a construct that leads to a target, or that displays it.
  func markup(
    _ kind: TweeMarkup.Kind, _ range: Range<Int>, text: TweeLinkBody.Text? = nil, to target: Range<Int>,
    as form: TweeTarget.Form
  ) -> TweeMarkup {
    var markup = TweeMarkup(kind, range, text: text?.range)
    markup.isTextEscaped = text?.isEscaped ?? false
    switch self.target(target, as: form) {
    case .name(let name, let encoding): (markup.target, markup.targetEncoding) = (name, encoding)
    case .address: (markup.kind, markup.target) = (.external, target)
    case .expression: (markup.kind, markup.target) = (.jump, target)
    }
    return markup
  }
}

extension TweeTarget {
  private static let schemes: [StaticString] = [
    "http://", "https://", "mailto:", "ftp://", "file://", "tel:", "javascript:", "data:", "//", "www.",
  ]
  private static let endings: [StaticString] = [
    ".html", ".htm", ".php", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".mp3", ".mp4",
  ]

  /// Whether a target leads out of the story: it has a scheme, or is the path of a page or a picture.
  static func isAddress(_ bytes: TweeBytes, _ target: Range<Int>) -> Bool {
    if schemes.contains(where: { bytes.matches($0, at: target.lowerBound, to: target.upperBound) }) {
      return true
    }
    guard let dot = bytes.raw(target).lastIndex(of: UInt8(ascii: ".")),
      !bytes.raw(target).contains(where: { TweeBytes.isSpace($0) })
    else { return false }
    let ending = target.lowerBound + dot
    return endings.contains { name in
      bytes.matches(name, at: ending, to: target.upperBound)
        && (ending + name.utf8CodeUnitCount == target.upperBound
          || "?#".utf8.contains(bytes[ending + name.utf8CodeUnitCount]))
    }
  }

  /// Whether a target that is no passage's name is evaluated when the story is played.
  static func isExpression(_ target: Range<Int>, in bytes: TweeBytes, _ format: TweeFormat) -> Bool {
    let first = bytes[target.lowerBound]
    if format.may(be: .sugarCube, .harlowe), first == UInt8(ascii: "_"), target.count > 1,
      TweeBytes.isLetter(bytes[target.lowerBound + 1])
    {
      return true
    }
    if format == .sugarCube, "\"'`".utf8.contains(first) { return true }
    if format.may(be: .sugarCube), isCall(bytes, target) { return true }
    for index in target {
      let next = index + 1 < target.upperBound ? bytes[index + 1] : 0
      switch bytes[index] {
      // $name
      case UInt8(ascii: "$"): if TweeBytes.isLetter(next) || next == UInt8(ascii: "_") { return true }
      // (macro: ...)
      case UInt8(ascii: "(") where format.may(be: .harlowe):
        var end = index + 1
        while end < target.upperBound, TweeBytes.isWord(bytes[end]) || bytes[end] == UInt8(ascii: "-") {
          end += 1
        }
        if end > index + 1, end < target.upperBound, bytes[end] == UInt8(ascii: ":") { return true }
      // {variable}
      case UInt8(ascii: "{") where format.may(be: .chapbook): if TweeBytes.isLetter(next) { return true }
      // <% template %>
      case UInt8(ascii: "<") where format.may(be: .snowman): if next == UInt8(ascii: "%") { return true }
      default: break
      }
    }
    return false
  }

  private static let objects: [StaticString] = ["setup.", "settings.", "state.", "story.", "window."]

  /// Whether a target is `name.name(…)`, or a member of an object of the format.
  private static func isCall(_ bytes: TweeBytes, _ target: Range<Int>) -> Bool {
    if objects.contains(where: { bytes.matches($0, at: target.lowerBound, to: target.upperBound) }) {
      return true
    }
    var index = target.lowerBound
    while index < target.upperBound, TweeBytes.isWord(bytes[index]) || bytes[index] == UInt8(ascii: ".") {
      index += 1
    }
    guard index > target.lowerBound, index < target.upperBound, bytes[index] == UInt8(ascii: "(") else {
      return false
    }
    // "Room(2) of three" is a name.
    return bytes[target.upperBound - 1] == UInt8(ascii: ")")
      || bytes.raw(index..<target.upperBound).contains { "\"'?:+".utf8.contains($0) }
  }
}
