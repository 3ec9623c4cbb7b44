/// Converts a passage's body to the text of a segment.
///
/// Trailing lines with only links are omitted, because the choices represent them; other links are replaced
/// by their texts. Macros, comments and external links stay unchanged.
struct TweeText {
  private let bytes: TweeBytes
  private var units: [UInt8] = []
  /// The end of the last line that has more than links.
  private var keptCount = 0
  private var isLineOfLinks = true

  init(_ bytes: TweeBytes) { self.bytes = bytes }

  mutating func text(_ body: Range<Int>, _ markups: ContiguousArray<TweeMarkup>) -> String {
    units.removeAll(keepingCapacity: true)
    (keptCount, isLineOfLinks) = (0, true)
    var cursor = body.lowerBound
    for markup in markups where markup.range.lowerBound >= cursor {
      append(bytes.range(cursor, markup.range.lowerBound))
      if markup.kind == .link {
        if let text = markup.text { units.append(contentsOf: bytes.raw(text)) }
      } else {
        append(markup.range)
        // A line break inside of a construct does not start a line of links.
        isLineOfLinks = false
      }
      cursor = markup.range.upperBound
    }
    append(bytes.range(cursor, body.upperBound))
    endLine()
    var end = min(keptCount, units.count)
    while end > 0, TweeBytes.isSpace(units[end - 1]) { end -= 1 }
    return String(decoding: units[..<end], as: UTF8.self)
  }

  private mutating func append(_ range: Range<Int>) {
    for byte in bytes.raw(range) {
      if byte == 0x0A {
        endLine()
        isLineOfLinks = true
      } else if !TweeBytes.isSpace(byte), !"*-+#|".utf8.contains(byte) {
        isLineOfLinks = false
      }
      units.append(byte)
    }
  }

  private mutating func endLine() {
    if !isLineOfLinks { keptCount = units.count }
  }
}
