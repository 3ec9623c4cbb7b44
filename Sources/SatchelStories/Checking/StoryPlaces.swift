#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

import SatchelJSON

/// Converts offsets in the text of a story to places in its files, in one pass when the offsets are ascending.
struct StoryPlaces {
  struct Place {
    /// For a story in several files, the name of one.
    var file: String?
    var position: JSONPosition
    /// The column in Unicode scalars.
    var scalarColumn: Int

    /// "file:line", or "line 12".
    var text: String { file.map { "\($0):\(position.line)" } ?? "line \(position.line)" }
  }

  private let table: StoryTable
  private var lines: LineCounter
  private var file = -1

  init(_ table: StoryTable) {
    self.table = table
    lines = LineCounter(table.origins?.source ?? table.text.source)
  }

  mutating func place(_ offset: Int) -> Place {
    var offset = table.origins?.origin(of: offset) ?? offset
    if file >= 0, offset < table.files[file].start { file = -1 }
    var next = file
    while next + 1 < table.files.count, table.files[next + 1].start <= offset { next += 1 }
    if next != file {
      file = next
      lines = LineCounter(UnsafeRawBufferPointer(rebasing: table.text.source[table.files[file].start...]))
    }
    if file >= 0 { offset -= table.files[file].start }
    let position = lines.position(offset)
    return Place(
      file: file >= 0 ? table.files[file].name : nil, position: position, scalarColumn: lines.scalarColumn)
  }
}

/// Converts offsets to lines and columns, in one pass over the text when the offsets are ascending.
struct LineCounter {
  private let text: UnsafeRawBufferPointer
  private var line = 1
  private var lineStart = 0
  /// The offset up to which line breaks are counted.
  private var counted = 0
  /// The number of UTF-8 continuation bytes in the line, up to that offset.
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
