import SatchelJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Turns offsets into lines and columns, in one pass over the text as long as the offsets rise.
struct LineCounter {
  private let text: UnsafeRawBufferPointer
  private var line = 1
  private var lineStart = 0
  /// Up to here the line breaks are counted.
  private var counted = 0
  /// Bytes of the line, up to there, that continue a character.
  private var continued = 0

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  /// The column of the last position, in Unicode scalars instead of bytes.
  var scalarColumn: Int { counted - lineStart - continued + 1 }

  mutating func position(_ offset: Int) -> JSONPosition {
    let offset = min(max(offset, 0), text.count)
    if offset < counted { (line, lineStart, counted, continued) = (1, 0, 0, 0) }
    while counted < offset, let base = text.baseAddress,
      let end = memchr(base + counted, 0x0A, offset - counted)
    {
      line += 1
      lineStart = UnsafeRawPointer(end) - base + 1
      (counted, continued) = (lineStart, 0)
    }
    for byte in text[counted..<offset] where byte & 0xC0 == 0x80 { continued += 1 }
    counted = offset
    return JSONPosition(offset: offset, line: line, column: offset - lineStart + 1)
  }
}
