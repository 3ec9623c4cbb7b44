/// The general path: quoted fields, other encodings of numbers, headers, and lines that are rejected.
extension ShardReader {
  static let columns = 8
  /// The maximum number of fields of a row that is parsed to its end, so that it is kept in one piece.
  ///
  /// The limit keeps reading linear: a line that lies wholly inside a quoted field of one row cannot itself
  /// begin a field that extends beyond the line (it holds quotes in pairs only), so each line is read at most
  /// once for each field that an earlier row may have open.
  private static let maxFields = 32

  /// Reads the row or line at the position and advances past it; returns nil for a header.
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
      // A line that begins like a row shows that a stray quote swallowed it; else the row is kept whole, to
      // be repaired.
      if breaks > 0, containsRowStart(start..<end) { return rejectLine(.quote) }
      line += breaks
      advance(to: next)
      return .rejected(line: begin, fault: fault, range: start..<end)
    }
  }

  /// Splits the row at the position into fields; returns its end, and the offset of the next line.
  private mutating func split() -> Result<(end: Int, next: Int, count: Int), RowFault> {
    fields.removeAll(keepingCapacity: true)
    var cursor = position
    var count = 0
    while count < ShardReader.maxFields {
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

  /// Reads a quoted field; leaves the cursor after the closing quote.
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

  /// Reads an unquoted field; leaves the cursor at the comma, the line end or the end of the bytes after it.
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

  /// Rejects the rest of this line, whatever quotes are open at its end.
  private mutating func rejectLine(_ fault: RowFault) -> Piece {
    let start = position
    let begin = line
    var end = start
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
    advance(to: min(end + 1, bytes.count))
    while end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return .rejected(line: begin, fault: fault, range: start..<end)
  }

  /// Whether a line inside the range, other than the first, begins like a row.
  private func containsRowStart(_ range: Range<Int>) -> Bool {
    let content = bytes[within: range]
    return content.indices.contains { position in
      content[position] == UInt8(ascii: "\n") && content.count - position > 33
        && content[position + 33] == UInt8(ascii: ",")
        && MD5(digitsOf: content, at: position + 1, lowerOnly: false) != nil
    }
  }
}

/// The interpretation of a row's fields.
extension ShardReader {
  /// Whether the fields are a header: "md5", then names, as many as a row has columns.
  func isHeader(_ count: Int) -> Bool {
    guard (7...ShardReader.columns).contains(count), let first = fields.first, first.end - first.start == 3
    else { return false }
    let names = fields.map { ShardRow.text($0, in: bytes[within: 0..<$0.end]) }
    return names.first?.lowercased() == "md5"
      && names.allSatisfy { name in
        name.utf8.count <= 40
          && name.utf8.contains { ShardReader.isLetter($0) }
          && name.utf8.allSatisfy { byte in
            ShardReader.isLetter(byte) || byte &- 0x30 < 10 || " _-.()".utf8.contains(byte)
          }
      }
  }

  /// Returns the row that the fields make, of any shard.
  func interpret(_ range: Range<Int>, count: Int) -> Result<ShardRow, RowFault> {
    guard (7...ShardReader.columns).contains(count), fields.count == count else { return .failure(.columns) }
    let identifier = count > 7 ? fields[7] : .none
    guard fields[0].end - fields[0].start == 32,
      let md5 = MD5(digitsOf: bytes, at: fields[0].start, lowerOnly: false)
    else { return .failure(.md5) }
    guard isText(fields[1].start..<fields[1].end) else { return .failure(.filename) }
    guard let size = ShardNumber.whole(content(2)) else { return .failure(.size) }
    guard let photodate = ShardNumber.seconds(content(3)) else { return .failure(.photodate) }
    guard let modified = ShardNumber.seconds(content(4)) else { return .failure(.modified) }
    let width = ShardNumber.whole(content(5))
    guard width != nil || content(5).isEmpty else { return .failure(.width) }
    let height = ShardNumber.whole(content(6))
    guard height != nil || content(6).isEmpty else { return .failure(.height) }
    guard isText(identifier.start..<identifier.end) else { return .failure(.applePhotoID) }
    var row = ShardRow(
      md5: md5, start: range.lowerBound, end: range.upperBound, line: line, filename: fields[1], size: size,
      photodate: photodate, modified: modified, width: width, height: height, applePhotoID: identifier,
      isCanonical: false)
    var canonical: [UInt8] = []
    ShardWriter.write(row.photo(in: bytes), into: &canonical)
    row.isCanonical = canonical.elementsEqual(bytes[within: range])
    return .success(row)
  }

  private func content(_ column: Int) -> UnsafeRawBufferPointer {
    bytes[within: fields[column].start..<fields[column].end]
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
}
