/// Rows of any kind: quoted fields, other spellings, headers, and lines that are no rows.
extension ShardReader {
  static let columns = 8
  /// Rows of so many fields are still followed to their end, so that they are kept in one piece.
  ///
  /// The limit keeps reading linear: a line that lies wholly inside a quoted field of one row cannot itself begin
  /// a field that reaches beyond the line (it holds quotes in pairs only), so each line is read once for each
  /// field that a row before it may have open, at most.
  private static let most = 32

  /// What stands at the position, and goes behind it; nil for a header.
  mutating func generalRow() -> Piece? {
    let start = position
    let (end, next, count): (Int, Int, Int)
    switch split() {
    case .success(let found): (end, next, count) = found
    case .failure(let fault): return rejectLine(fault)
    }
    if isHeader(count) {
      advance(to: next)
      return nil
    }
    let begin = line
    let breaks = bytes[within: start..<end].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    switch interpret(start..<end, count: count) {
    case .success(let row):
      line += breaks
      advance(to: next)
      return row.md5.shard == shard
        ? .photo(row) : .rejected(line: begin, fault: .wrongShard, range: start..<end)
    case .failure(let fault):
      // What a stray quote swallowed shows by how it begins; else the row stays whole, to be mended.
      if breaks > 0, holdsRowStart(start..<end) { return rejectLine(.quote) }
      line += breaks
      advance(to: next)
      return .rejected(line: begin, fault: fault, range: start..<end)
    }
  }

  /// Finds the fields of the row at the position, its end, and where the next line begins.
  private mutating func split() -> Result<(end: Int, next: Int, count: Int), RowFault> {
    fields.removeAll(keepingCapacity: true)
    var cursor = position
    var count = 0
    while count < ShardReader.most {
      let isQuoted = cursor < bytes.count && bytes[cursor] == UInt8(ascii: "\"")
      switch isQuoted ? quotedField(&cursor) : plainField(&cursor) {
      case .success(let field): if count < ShardReader.columns { fields.append(field) }
      case .failure(let fault): return .failure(fault)
      }
      count += 1
      if cursor < bytes.count, bytes[cursor] == UInt8(ascii: ",") {
        cursor += 1
      } else if let next = lineEnd(at: cursor) {
        return .success((cursor, next, count))
      } else {
        return .failure(isQuoted ? .quote : .carriageReturn)
      }
    }
    return .failure(.columns)
  }

  /// Leaves the cursor behind the closing quote.
  private func quotedField(_ cursor: inout Int) -> Result<ShardRow.Field, RowFault> {
    cursor += 1
    var field = ShardRow.Field(start: cursor, end: cursor)
    while cursor < bytes.count {
      guard bytes[cursor] == UInt8(ascii: "\"") else {
        cursor += 1
        continue
      }
      field.end = cursor
      cursor += 1
      guard cursor < bytes.count, bytes[cursor] == UInt8(ascii: "\"") else { return .success(field) }
      field.hasDoubledQuotes = true
      cursor += 1
    }
    return .failure(.quote)
  }

  /// Leaves the cursor on what is not of the field: a comma, a line end, the end.
  private func plainField(_ cursor: inout Int) -> Result<ShardRow.Field, RowFault> {
    let start = cursor
    while cursor < bytes.count {
      switch bytes[cursor] {
      case UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        return .success(ShardRow.Field(start: start, end: cursor))
      case UInt8(ascii: "\""): return .failure(.bareQuote)
      default: cursor += 1
      }
    }
    return .success(ShardRow.Field(start: start, end: cursor))
  }

  /// Rejects what stands up to the end of this line, whatever quotes are open there.
  private mutating func rejectLine(_ fault: RowFault) -> Piece {
    let start = position
    let begin = line
    var end = start
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
    advance(to: min(end + 1, bytes.count))
    while end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return .rejected(line: begin, fault: fault, range: start..<end)
  }

  /// Whether a line inside the range, but the first, begins as rows do.
  private func holdsRowStart(_ range: Range<Int>) -> Bool {
    let content = bytes[within: range]
    return content.indices.contains { position in
      content[position] == UInt8(ascii: "\n") && content.count - position > 33
        && content[position + 33] == UInt8(ascii: ",")
        && MD5(digitsOf: content, at: position + 1, lowerOnly: false) != nil
    }
  }
}
