/// What a link's target is, by its looks; a passage of that name always comes first.
enum TweeTarget {
  case name, address, expression

  init(_ bytes: TweeBytes, _ target: Range<Int>, _ format: TweeFormat) {
    if Self.isAddress(bytes, target) {
      self = .address
    } else if Self.isExpression(bytes, target, format) {
      self = .expression
    } else {
      self = .name
    }
  }

  private static let schemes: [StaticString] = [
    "http://", "https://", "mailto:", "ftp://", "file://", "tel:", "javascript:", "data:", "//",
  ]

  private static func isAddress(_ bytes: TweeBytes, _ target: Range<Int>) -> Bool {
    schemes.contains { bytes.spells($0, at: target.lowerBound, to: target.upperBound) }
  }

  private static func isExpression(_ bytes: TweeBytes, _ target: Range<Int>, _ format: TweeFormat) -> Bool {
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

  /// name.name(...), or a variable of the story's own.
  private static func isCall(_ bytes: TweeBytes, _ target: Range<Int>) -> Bool {
    if bytes.spells("setup.", at: target.lowerBound, to: target.upperBound)
      || bytes.spells("settings.", at: target.lowerBound, to: target.upperBound)
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
