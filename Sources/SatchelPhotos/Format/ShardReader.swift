/// Reads a shard's rows in one pass over its bytes, in constant memory.
///
/// Forgives: CRLF, a final newline, empty lines, byte-order marks, header lines, digits in upper case, fractions of
/// seconds, rows of format 5. Everything else that is no row of this shard is told, and reading goes on behind it.
struct ShardReader {
  /// What the next line is.
  enum Piece {
    case photo(ShardRow)
    /// Its bytes stand in `range`, without line end.
    case rejected(line: Int, fault: RowFault, range: Range<Int>)
  }

  let bytes: UnsafeRawBufferPointer
  let shard: Shard.Index
  var position = 0
  /// Of the line at `position`, counted from 1.
  var line = 1
  /// The general way's fields, kept to reuse their memory.
  var fields: [ShardRow.Field] = []

  /// - Parameter bytes: must stay as they are while the reader is used
  init(_ bytes: UnsafeRawBufferPointer, shard: Shard.Index) {
    self.bytes = bytes
    self.shard = shard
    fields.reserveCapacity(ShardReader.columns)
  }

  /// The photo of one row, given without line end; nil when it is no row of the shard.
  static func photo(in row: UnsafeRawBufferPointer, shard: Shard.Index) -> Photo? {
    var reader = ShardReader(row, shard: shard)
    guard case .photo(let found) = reader.next() else { return nil }
    return found.photo(in: row)
  }

  /// The next row, or line that is none; nil at the end.
  mutating func next() -> Piece? {
    while true {
      skipByteOrderMarks()
      guard position < bytes.count else { return nil }
      if let next = lineEnd(at: position) {
        // Nothing stands in an empty line that could be lost.
        advance(to: next)
      } else if let row = commonRow() {
        return .photo(row)
      } else if let piece = generalRow() {
        return piece
      }
    }
  }

  /// Where the next line begins, when the line ends here: any carriage returns, then a line feed or nothing.
  ///
  /// More than one carriage return, so that a line kept without its line end reads the same in every file.
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
