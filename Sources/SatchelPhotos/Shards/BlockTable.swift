import SatchelCore
import SatchelStorage

/// The table `photo_block`: the content of shard versions, in blocks.
struct BlockTable {
  /// The greatest size of a block in bytes, unless photos of one place have more: its row fits into a page, so that
  /// reading it takes one page.
  static let size = 4050

  let connection: Connection
  let shard: Shard.Index

  /// Passes the line of a photo to `body`.
  ///
  /// - Returns: nil when the version does not have the photo
  func withLine<Result>(
    of md5: MD5, version: Int64, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result? {
    guard version != 0 else { return nil }
    let statement = try connection.prepared(
      """
      SELECT id, is_plain, lines FROM photo_block WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1
      """)
    defer { statement.reset() }
    try statement.bind(.integer(Self.id(of: md5.place, version: version)), at: 1)
    try statement.bind(.integer(version << 32 | 0xFFFF_FFFF), at: 2)
    guard try statement.step() else { return nil }
    let block = Block(statement, shard)
    return try block.line(of: md5).map { try body(block.lines[within: $0]) }
  }

  /// Returns the least id that the block with photos of a place can have.
  static func id(of place: UInt64, version: Int64) -> Int64 {
    version << 32 | Int64(UInt32(truncatingIfNeeded: place))
  }

  /// A row of `photo_block`; its bytes are valid until the statement steps.
  struct Block {
    var location: BlockLocation
    var isPlain: Bool
    var lines: UnsafeRawBufferPointer

    /// - Parameter statement: its columns begin with id, is_plain, lines
    init(_ statement: Statement, _ shard: Shard.Index) {
      location = BlockLocation(shard: shard, id: statement.anyInteger(0))
      isPlain = statement.flag(1)
      lines = statement.bytes(2)
    }

    init(location: BlockLocation, isPlain: Bool, lines: UnsafeRawBufferPointer) {
      self.location = location
      self.isPlain = isPlain
      self.lines = lines
    }

    var reader: BlockReader { BlockReader(lines, isPlain: isPlain, location: location) }

    /// Returns the range of a photo's line.
    func line(of md5: MD5) throws -> Range<Int>? {
      guard isPlain else {
        var reader = reader
        while let line = try reader.next() {
          if case .photo(md5, let range) = line { return range }
        }
        return nil
      }
      return try search(for: md5)
    }

    /// Finds a photo's line by binary search, in a plain block.
    private func search(for md5: MD5) throws -> Range<Int>? {
      let start = try start(of: md5)
      guard start < lines.count, MD5(digitsOf: lines, at: start, lowerOnly: true) == md5 else { return nil }
      return start..<BlockReader.end(of: lines, from: start)
    }

    /// Returns the offset of the first line that is not before a photo, in a plain block; the end when there is
    /// none.
    func start(of md5: MD5) throws -> Int {
      // Lines begin at `low`, and at `high` unless that is the end.
      var (low, high) = (0, lines.count)
      while low < high {
        // The first line after the middle; if that is not in the range, the first line.
        let next = BlockReader.end(of: lines, from: low + (high - low) / 2) + 1
        let start = next < high ? next : low
        guard let found = MD5(digitsOf: lines, at: start, lowerOnly: true) else {
          throw location.damage("a line is not a row of the shard")
        }
        if found == md5 { return start }
        if md5 < found {
          if start == low { return start }
          high = start
        } else {
          low = BlockReader.end(of: lines, from: start) + 1
        }
      }
      return min(low, lines.count)
    }
  }
}

/// Identifies a block.
struct BlockLocation {
  var shard: Shard.Index
  var id: Int64

  /// The last place that the block can have photos of.
  var place: UInt64 {
    UInt64(truncatingIfNeeded: shard.number) << 32 | UInt64(UInt32(truncatingIfNeeded: id))
  }

  func damage(_ reason: String) -> SatchelError {
    SatchelError(.damaged, "shard \(shard), block \(id): \(reason)")
  }
}

/// Reads the lines of one block.
struct BlockReader {
  /// A line, and its range.
  enum Line {
    case photo(MD5, Range<Int>)
    case kept(Range<Int>)
  }

  private let bytes: UnsafeRawBufferPointer
  private let location: BlockLocation
  private let isPlain: Bool
  private var position = 0
  private var reader: ShardReader

  /// - Parameter bytes: must not change while the reader is used
  init(_ bytes: UnsafeRawBufferPointer, isPlain: Bool, location: BlockLocation) {
    self.bytes = bytes
    self.isPlain = isPlain
    self.location = location
    reader = ShardReader(bytes, shard: location.shard)
  }

  /// Returns the next line; nil at the end.
  ///
  /// - Throws: `.damaged` for a line that no block can hold
  mutating func next() throws -> Line? {
    guard isPlain else { return try nextLine() }
    guard position < bytes.count else { return nil }
    let end = BlockReader.end(of: bytes, from: position)
    guard let md5 = MD5(digitsOf: bytes, at: position, lowerOnly: true), md5.shard == location.shard,
      end - position > 32, bytes[position + 32] == UInt8(ascii: ",")
    else { throw location.damage("a line is not a row of the shard") }
    defer { position = end + 1 }
    return .photo(md5, position..<end)
  }

  private mutating func nextLine() throws -> Line? {
    switch reader.next() {
    case .photo(let row):
      guard row.isCanonical else { throw location.damage("a row is not as it was written") }
      return .photo(row.md5, row.start..<row.end)
    case .rejected(_, _, let range): return .kept(range)
    case nil: return nil
    }
  }

  /// Returns the end of the line that contains a position: a line feed, or the end of the bytes.
  static func end(of bytes: UnsafeRawBufferPointer, from position: Int) -> Int {
    guard let base = bytes.baseAddress, position < bytes.count else { return bytes.count }
    guard let found = memchr(base + position, Int32(UInt8(ascii: "\n")), bytes.count - position) else {
      return bytes.count
    }
    return UnsafeRawPointer(found) - base
  }
}
