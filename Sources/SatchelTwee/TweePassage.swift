import SatchelStories

/// A passage of a game.
struct TweePassage {
  /// The offset of its "::".
  var start: Int
  /// The name, with escapes resolved.
  var name: StorySlice
  /// By `StoryIDTable`.
  var nameHash: UInt32
  /// The body, without trailing white space.
  var body: Range<Int>
  var kind = Kind.segment
  var isAuthentic = false

  enum Kind {
    /// A segment of the story.
    case segment
    /// Displayed together with segments, such as a menu: its links lead from any segment to their targets.
    case shownElsewhere
    /// JavaScript.
    case script
    /// Neither displayed nor executed.
    case data
  }

  /// Sets the kind and the authentic flag from the name and the tags.
  mutating func classify(by header: TweeHeader, in bytes: TweeBytes, _ format: TweeFormat) {
    if !header.isNameEscaped { kind = Self.kind(name: header.name, bytes, format) }
    header.forEachTag(bytes) { tag in
      if bytes.equals(tag, "authentic") { isAuthentic = true }
      if kind == .segment { kind = Self.kind(tag: tag, bytes, format) }
    }
  }

  private static func kind(name: Range<Int>, _ bytes: TweeBytes, _ format: TweeFormat) -> Kind {
    func isOne(of names: [StaticString]) -> Bool { names.contains { bytes.equals(name, $0) } }
    switch bytes[name.lowerBound] {
    case UInt8(ascii: "S"), UInt8(ascii: "P"), UInt8(ascii: "M"), UInt8(ascii: "U"): break
    // Twee2 includes a file so.
    case UInt8(ascii: "@") where bytes.matches("@include ", at: name.lowerBound, to: name.upperBound):
      return .data
    default: return .segment
    }
    if isOne(of: data) { return .data }
    if isOne(of: scripts) { return .script }
    return format.may(be: .sugarCube) && isOne(of: shown) ? .shownElsewhere : .segment
  }

  private static func kind(tag: Range<Int>, _ bytes: TweeBytes, _ format: TweeFormat) -> Kind {
    func isOne(of tags: [StaticString]) -> Bool { tags.contains { bytes.equals(tag, $0) } }
    if bytes.equals(tag, "script") { return .script }
    if bytes.equals(tag, "stylesheet") || bytes.matches("twine.", at: tag.lowerBound, to: tag.upperBound) {
      return .data
    }
    if format.may(be: .sugarCube), bytes.equals(tag, "widget") { return .shownElsewhere }
    if format == .sugarCube, bytes.equals(tag, "init") { return .shownElsewhere }
    return format.may(be: .harlowe) && isOne(of: harloweTags) ? .shownElsewhere : .segment
  }

  private static let data: [StaticString] = [
    "StoryTitle", "StoryData", "StoryAuthor", "StorySettings", "StoryIncludes", "Story Stylesheet",
    "UserStylesheet",
  ]
  private static let scripts: [StaticString] = ["Story JavaScript", "UserScript"]
  private static let shown: [StaticString] = [
    "StoryInit", "StoryCaption", "StoryMenu", "StoryBanner", "StorySubtitle", "StoryDisplayTitle",
    "StoryInterface", "StoryShare", "PassageHeader", "PassageFooter", "PassageReady", "PassageDone",
    "MenuOptions", "MenuShare", "MenuStory",
  ]
  private static let harloweTags: [StaticString] = [
    "header", "footer", "startup", "debug-header", "debug-footer", "debug-startup",
  ]
}
