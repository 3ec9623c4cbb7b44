import SatchelStories

/// The kind of a link's target, by its form. A passage with the same name takes precedence.
enum TweeTarget {
  case name, address, expression

  init(_ target: Range<Int>, in bytes: TweeBytes, _ format: TweeFormat) {
    if Self.isAddress(bytes, target) {
      self = .address
    } else if Self.isExpression(target, in: bytes, format) {
      self = .expression
    } else {
      self = .name
    }
  }

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

  private static func isExpression(_ target: Range<Int>, in bytes: TweeBytes, _ format: TweeFormat) -> Bool {
    let first = bytes[target.lowerBound]
    if format.may(be: .sugarCube, .harlowe), first == UInt8(ascii: "_"), target.count > 1,
      TweeBytes.isLetter(bytes[target.lowerBound + 1])
    {
      return true
    }
    if format == .sugarCube, first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return true }
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

  /// Whether a target is `name.name(...)`, or a member of `setup` or `settings`.
  private static func isCall(_ bytes: TweeBytes, _ target: Range<Int>) -> Bool {
    if bytes.matches("setup.", at: target.lowerBound, to: target.upperBound)
      || bytes.matches("settings.", at: target.lowerBound, to: target.upperBound)
    {
      return true
    }
    guard bytes[target.upperBound - 1] == UInt8(ascii: ")"), target.count > 2 else { return false }
    var index = target.lowerBound
    while index < target.upperBound, TweeBytes.isWord(bytes[index]) || bytes[index] == UInt8(ascii: ".") {
      index += 1
    }
    return index > target.lowerBound && bytes[index] == UInt8(ascii: "(")
  }
}

/// The names of the passages. Needed only for targets that do not have the form of a name, and for special
/// passages; built on first use.
final class TweeNames {
  private let passages: ContiguousArray<TweePassage>
  private let text: StoryText
  private lazy var all = table { _ in true }
  private lazy var special = table { $0.kind != .segment }
  private let hasSpecial: Bool

  init(_ passages: ContiguousArray<TweePassage>, _ text: StoryText) {
    self.passages = passages
    self.text = text
    hasSpecial = passages.contains { $0.kind != .segment }
  }

  private func table(_ condition: (TweePassage) -> Bool) -> StoryIDTable {
    var table = StoryIDTable(capacity: passages.count)
    for (index, passage) in passages.enumerated() where condition(passage) {
      _ = table.insert(index, text.bytes(passage.name))
    }
    return table
  }

  func contains(_ name: UnsafeRawBufferPointer) -> Bool {
    all.find(name) != nil
  }

  /// Returns the passage with this name when it is not a segment.
  func special(_ name: UnsafeRawBufferPointer) -> Int? {
    hasSpecial ? special.find(name) : nil
  }
}
