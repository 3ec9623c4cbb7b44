import SatchelCore
import SatchelStorage

/// A parsed shard: its rows in the order of md5, each md5 once, and the rejected lines that stay in the file.
struct ShardContent {
  /// A photo's row in the file.
  struct Entry {
    var md5: MD5
    var range: Range<Int>
    /// The line's number, counted from 1.
    var line: Int
    /// Whether the bytes are what the writer writes; else `ShardContent.photo` has to be written again.
    var isCanonical: Bool
  }

  /// The maximum number of rejected lines: a file with more is not a shard. Also bounds the memory for a bad
  /// file.
  static let maxRejected = 1_000_000

  let shard: Shard.Index
  /// The rows in the order of their md5, without duplicates.
  private(set) var entries: [Entry] = []
  /// Rejected lines that stay in the shard, in the order of their bytes; see `ShardWriter.precedes`.
  private(set) var kept: [Range<Int>] = []
  /// Every rejected line, in the order of the file that was read.
  private(set) var rejected: [RejectedRow] = []

  /// Parses a file. Of several rows with one md5 the last wins, as if they had been stored one after the
  /// other.
  ///
  /// - Throws: `SatchelError` (`invalid`) when more than a million lines are rejected.
  init(_ bytes: UnsafeRawBufferPointer, shard: Shard.Index) throws {
    self.shard = shard
    var reader = ShardReader(bytes, shard: shard)
    var isAscending = true
    // Few rows are shorter. Reserved pages that are not touched cost nothing.
    entries.reserveCapacity(bytes.count / 64)
    while let piece = reader.next() {
      switch piece {
      case .photo(let row):
        if let last = entries.last, last.md5 >= row.md5 { isAscending = false }
        entries.append(
          Entry(
            md5: row.md5, range: row.start..<row.end, line: row.line, isCanonical: row.isCanonical))
      case .rejected(let line, let fault, let range):
        kept.append(range)
        try reject(RejectedRow(line: line, fault: fault, raw: Array(bytes[within: range])))
      }
    }
    if !isAscending { try sortEntries(bytes) }
    kept = kept.ordered { ShardWriter.precedes(bytes[within: $0], bytes[within: $1]) }
  }

  /// Returns the photo of an entry.
  ///
  /// - Parameter bytes: the bytes that were parsed
  func photo(of entry: Entry, in bytes: UnsafeRawBufferPointer) -> Photo? {
    ShardReader.photo(in: bytes[within: entry.range], shard: shard)
  }

  /// Adds the lines rejected by an earlier pass over the same file; see `reading`.
  mutating func prepend(_ earlier: [RejectedRow]) {
    rejected = earlier + rejected.filter { !$0.fault.isKept }
  }

  private mutating func sortEntries(_ bytes: UnsafeRawBufferPointer) throws {
    entries.sort { $0.md5 == $1.md5 ? $0.line < $1.line : $0.md5 < $1.md5 }
    var unique: [Entry] = []
    unique.reserveCapacity(entries.count)
    let count = rejected.count
    for entry in entries {
      if let last = unique.last, last.md5 == entry.md5 {
        try reject(
          RejectedRow(line: last.line, fault: .duplicate, raw: Array(bytes[within: last.range])))
        unique.removeLast()
      }
      unique.append(entry)
    }
    entries = unique
    if rejected.count > count { rejected = rejected.ordered { $0.line < $1.line } }
  }

  private mutating func reject(_ row: RejectedRow) throws {
    guard rejected.count < ShardContent.maxRejected else {
      throw SatchelError(
        .invalid, "shard \(shard): more than \(ShardContent.maxRejected) lines are not rows of it")
    }
    rejected.append(row)
  }
}

extension ShardContent {
  /// A line of the file, in the order of writing.
  enum Line {
    case photo(Entry)
    case kept(Range<Int>)
  }

  /// The maximum number of passes until the content is stable.
  private static let maxReadings = 16

  /// Passes to `body` the content of a file and the bytes that it refers to, which nearly always are the
  /// file's own.
  ///
  /// Where a rejected line leaves a quote open, sorting may place it before a line that closes the quote, and
  /// both together parse differently. So a shard with such lines is parsed from its written form, until that
  /// is stable: exporting, importing and exporting gives the same bytes. `rejected` has the lines of the file
  /// as given.
  ///
  /// - Throws: `SatchelError` (`invalid`) when more than a million lines are rejected; what `body` throws
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
    for _ in 1..<maxReadings {
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

  /// Visits rows and kept lines in the order in which they are written.
  func forEachLine(
    in bytes: UnsafeRawBufferPointer, _ body: (Line) throws -> Void
  ) rethrows {
    var pending = kept[...]
    var row: [UInt8] = []
    for entry in entries {
      if !pending.isEmpty {
        // The md5 nearly always decides; the row is written only once, and only for lines that begin with its
        // md5.
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

  /// Returns the shard as it is exported: canonical rows and kept lines, in order.
  ///
  /// - Parameter bytes: the bytes that were parsed
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
}
