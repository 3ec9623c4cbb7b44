/// A passage's body as the text of a segment: what a reader reads before choosing.
///
/// Lines at the end that hold nothing but links are left out, since the choices say the same; other links are replaced
/// by their texts. Macros, comments and links to the outside stay as they are.
struct TweeText {
  private let bytes: TweeBytes
  private var units: [UInt8] = []
  /// Up to here the lines that hold more than links reach.
  private var keptCount = 0
  private var isLineOfLinks = true

  init(_ bytes: TweeBytes) { self.bytes = bytes }

  mutating func text(_ body: Range<Int>, _ marks: ContiguousArray<TweeMark>) -> String {
    units.removeAll(keepingCapacity: true)
    (keptCount, isLineOfLinks) = (0, true)
    var cursor = body.lowerBound
    for mark in marks where mark.range.lowerBound >= cursor {
      append(bytes.range(cursor, mark.range.lowerBound))
      if mark.kind == .link {
        if let text = mark.text { units.append(contentsOf: bytes.raw(text)) }
      } else {
        append(mark.range)
        // A line break inside it does not make it a line of links.
        isLineOfLinks = false
      }
      cursor = mark.range.upperBound
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
