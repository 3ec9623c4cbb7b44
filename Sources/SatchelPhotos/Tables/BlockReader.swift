import SatchelStorage

/// Reads the lines of one block.
struct BlockReader {
  /// A line, and where it stands.
  enum Line {
    case photo(MD5, Range<Int>)
    case kept(Range<Int>)
  }

  private let bytes: UnsafeRawBufferPointer
  private let place: BlockPlace
  private let isPlain: Bool
  private var position = 0
  private var reader: ShardReader

  /// - Parameter bytes: must stay as they are while the reader is used
  init(_ bytes: UnsafeRawBufferPointer, isPlain: Bool, place: BlockPlace) {
    self.bytes = bytes
    self.isPlain = isPlain
    self.place = place
    reader = ShardReader(bytes, shard: place.shard)
  }

  /// The next line; nil at the end.
  ///
  /// - Throws: `.damaged` for what no block holds
  mutating func next() throws -> Line? {
    guard isPlain else { return try nextOfAny() }
    guard position < bytes.count else { return nil }
    let end = BlockReader.end(of: bytes, from: position)
    guard let md5 = MD5(digitsOf: bytes, at: position, lowerOnly: true), md5.shard == place.shard,
      end - position > 32, bytes[position + 32] == UInt8(ascii: ",")
    else { throw place.damage("a line is no row of the shard") }
    defer { position = end + 1 }
    return .photo(md5, position..<end)
  }

  private mutating func nextOfAny() throws -> Line? {
    switch reader.next() {
    case .photo(let row):
      guard row.isCanonical else { throw place.damage("a row is not as it was written") }
      return .photo(row.md5, row.start..<row.end)
    case .rejected(_, _, let range): return .kept(range)
    case nil: return nil
    }
  }

  /// Where the line that holds a position ends: at a line feed, or at the end.
  static func end(of bytes: UnsafeRawBufferPointer, from position: Int) -> Int {
    guard let base = bytes.baseAddress, position < bytes.count else { return bytes.count }
    guard let found = memchr(base + position, Int32(UInt8(ascii: "\n")), bytes.count - position) else {
      return bytes.count
    }
    return UnsafeRawPointer(found) - base
  }
}
