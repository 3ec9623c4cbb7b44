extension ShardContent {
  /// A line in its place.
  enum Line {
    case photo(Entry)
    case kept(Range<Int>)
  }

  /// How often a file is read again at most until it stays as it is.
  private static let mostReadings = 16

  /// Hands out the content of a file, and the bytes that it refers to: the file's own, nearly always.
  ///
  /// Where a rejected line leaves a quote open, its place in order may put it before a line that closes the quote,
  /// and both together read as something else. So a shard with such lines is taken as it reads once it is written:
  /// exporting, importing and exporting gives the same bytes. `rejected` tells the lines of the file as given.
  ///
  /// - Throws: `SatchelError` (`invalid`) when more than a million lines are no rows; what `body` throws
  static func reading<Answer>(
    _ file: UnsafeRawBufferPointer, shard: Shard.Index,
    _ body: (ShardContent, UnsafeRawBufferPointer) throws -> Answer
  ) throws -> Answer {
    let first = try ShardContent(file, shard: shard)
    guard first.kept.contains(where: { file[within: $0].contains(UInt8(ascii: "\"")) }) else {
      return try body(first, file)
    }
    var written = first.written(from: file)
    if written.elementsEqual(file) { return try body(first, file) }
    var rejected = first.rejected
    for _ in 1..<mostReadings {
      let (content, again) = try written.withUnsafeBytes { bytes in
        var content = try ShardContent(bytes, shard: shard)
        content.prepend(rejected)
        return (content, content.written(from: bytes))
      }
      rejected = content.rejected
      if again == written { return try written.withUnsafeBytes { try body(content, $0) } }
      written = again
    }
    return try written.withUnsafeBytes { bytes in
      var content = try ShardContent(bytes, shard: shard)
      content.prepend(rejected)
      return try body(content, bytes)
    }
  }

  /// Goes through rows and kept lines in the order in which they are written.
  func forEachLine(
    in bytes: UnsafeRawBufferPointer, _ body: (Line) throws -> Void
  ) rethrows {
    var pending = kept[...]
    var row: [UInt8] = []
    for entry in entries {
      if !pending.isEmpty {
        // The md5 decides nearly always; the row's text is made only for lines that begin with it, and once.
        row.removeAll(keepingCapacity: true)
        entry.md5.write(into: &row)
        var isWhole = false
        while let range = pending.first {
          let line = bytes[within: range]
          if !isWhole, line.starts(with: row), let photo = photo(of: entry, in: bytes) {
            row.removeAll(keepingCapacity: true)
            ShardWriter.write(photo, into: &row)
            isWhole = true
          }
          guard row.withUnsafeBytes({ ShardWriter.precedes(line, $0) }) else { break }
          try body(.kept(range))
          pending.removeFirst()
        }
      }
      try body(.photo(entry))
    }
    for range in pending { try body(.kept(range)) }
  }

  /// The shard as it is exported: canonical rows and kept lines, in order.
  ///
  /// - Parameter bytes: the ones that were read
  func written(from bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var writer = ShardWriter(capacity: bytes.count)
    forEachLine(in: bytes) { line in
      switch line {
      case .kept(let range): writer.append(line: bytes[within: range])
      case .photo(let entry):
        if !entry.isCanonical, let photo = photo(of: entry, in: bytes) {
          writer.append(photo)
        } else {
          writer.append(line: bytes[within: entry.range])
        }
      }
    }
    return writer.bytes
  }

  /// Whether the bytes are already what `written` gives, so that they can be stored without a copy.
  func isWritten(in bytes: UnsafeRawBufferPointer) -> Bool {
    // Lines that follow each other at a distance of one are joined by a line feed: nothing else is one byte long.
    var end = -1
    var isWritten = true
    forEachLine(in: bytes) { line in
      switch line {
      case .kept(let range):
        isWritten = isWritten && range.lowerBound == end + 1
        end = range.upperBound
      case .photo(let entry):
        isWritten = isWritten && entry.isCanonical && entry.range.lowerBound == end + 1
        end = entry.range.upperBound
      }
    }
    if isWritten { return max(end, 0) == bytes.count }
    // Kept lines with line feeds in them may be read in other pieces than those that were written.
    return !kept.isEmpty && written(from: bytes).elementsEqual(bytes)
  }
}
