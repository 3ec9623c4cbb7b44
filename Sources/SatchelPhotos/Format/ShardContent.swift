import SatchelStorage

/// A shard's rows in order, each md5 once, and the lines that are kept as they are.
struct ShardContent {
  /// Where a photo's row stands.
  struct Entry {
    var md5: MD5
    var range: Range<Int>
    /// Counted from 1.
    var line: Int
    /// Unix seconds.
    var photodate: Int64
    /// Whether the bytes are what the writer gives; else `ShardContent.photo` is to be written anew.
    var isCanonical: Bool
  }

  /// So many lines that are no rows make a file that is no shard; it also bounds the memory that a bad file takes.
  static let mostRejected = 1_000_000

  let shard: Shard.Index
  /// In the order of their md5, which differ.
  private(set) var entries: [Entry] = []
  /// Rejected lines that stay in the shard, in the order of their bytes; see `ShardWriter.precedes`.
  private(set) var kept: [Range<Int>] = []
  /// Every line that was not taken, in the order of the file that was given.
  private(set) var rejected: [RejectedRow] = []

  /// Reads one file. Of several rows with one md5 the last counts, as if they had been stored one after the other.
  ///
  /// - Throws: `SatchelError` (`invalid`) when more than a million lines are no rows.
  init(_ bytes: UnsafeRawBufferPointer, shard: Shard.Index) throws {
    self.shard = shard
    var reader = ShardReader(bytes, shard: shard)
    var isAscending = true
    // Hardly a row is shorter. Memory that is not used costs nothing.
    entries.reserveCapacity(bytes.count / 64)
    while let piece = reader.next() {
      switch piece {
      case .photo(let row):
        if let last = entries.last, last.md5 >= row.md5 { isAscending = false }
        entries.append(
          Entry(
            md5: row.md5, range: row.start..<row.end, line: row.line, photodate: row.photodate,
            isCanonical: row.isCanonical))
      case .rejected(let line, let fault, let range):
        kept.append(range)
        try reject(RejectedRow(line: line, fault: fault, raw: Array(bytes[within: range])))
      }
    }
    if !isAscending { try sortEntries(bytes) }
    kept.sort { ShardWriter.precedes(bytes[within: $0], bytes[within: $1]) }
  }

  /// The photo of an entry.
  ///
  /// - Parameter bytes: the ones that were read
  func photo(of entry: Entry, in bytes: UnsafeRawBufferPointer) -> Photo? {
    ShardReader.photo(in: bytes[within: entry.range], shard: shard)
  }

  /// Adds what was found when the file was read again; see `reading`.
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
    if rejected.count > count { rejected.sort { $0.line < $1.line } }
  }

  private mutating func reject(_ row: RejectedRow) throws {
    guard rejected.count < ShardContent.mostRejected else {
      throw SatchelError(
        .invalid, "shard \(shard): more than \(ShardContent.mostRejected) lines are no rows of it")
    }
    rejected.append(row)
  }
}
