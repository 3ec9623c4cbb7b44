/// Reads a shard's rows in one pass over its bytes, in constant memory.
///
/// Accepts CRLF, a final newline, empty lines, byte-order marks, header lines, upper-case digits, fractions
/// of seconds, and rows of format 5. Every other line that is not a row of this shard is rejected, and
/// reading continues after it.
struct ShardReader {
  /// A row, or a rejected line.
  enum Piece {
    case photo(ShardRow)
    /// The line's bytes are in `range`, without line end.
    case rejected(line: Int, fault: RowFault, range: Range<Int>)
  }

  let bytes: UnsafeRawBufferPointer
  let shard: Shard.Index
  var position = 0
  /// The number of the line at `position`, counted from 1.
  var line = 1
  /// The fields of the general path, kept to reuse their memory.
  var fields: [ShardRow.Field] = []

  /// - Parameter bytes: must not change while the reader is used
  init(_ bytes: UnsafeRawBufferPointer, shard: Shard.Index) {
    self.bytes = bytes
    self.shard = shard
  }

  /// Returns the photo of one row, given without line end; nil when it is not a row of the shard.
  static func photo(in row: UnsafeRawBufferPointer, shard: Shard.Index) -> Photo? {
    var reader = ShardReader(row, shard: shard)
    guard case .photo(let found) = reader.next() else { return nil }
    return found.photo(in: row)
  }

  /// Returns the next row or rejected line; nil at the end.
  mutating func next() -> Piece? {
    while true {
      skipByteOrderMarks()
      guard position < bytes.count else { return nil }
      if let next = lineEnd(at: position) {
        advance(to: next)
      } else if let row = commonRow() {
        return .photo(row)
      } else if let piece = generalRow() {
        return piece
      }
    }
  }

  /// Returns the offset of the next line when the line ends here: any carriage returns, then a line feed or
  /// the end.
  ///
  /// More than one carriage return is allowed, so that a line kept without its line end reads the same in
  /// every file.
  func lineEnd(at start: Int) -> Int? {
    var cursor = start
    while cursor < bytes.count, bytes[cursor] == UInt8(ascii: "\r") { cursor += 1 }
    guard cursor < bytes.count else { return bytes.count }
    return bytes[cursor] == UInt8(ascii: "\n") ? cursor + 1 : nil
  }

  mutating func advance(to next: Int) {
    position = next
    line += 1
  }

  private mutating func skipByteOrderMarks() {
    while bytes.count - position >= 3, bytes[position] == 0xEF, bytes[position + 1] == 0xBB,
      bytes[position + 2] == 0xBF
    {
      position += 3
    }
  }
}
