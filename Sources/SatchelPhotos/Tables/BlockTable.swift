import SatchelStorage

/// The blocks of a shard's levels.
struct BlockTable {
  /// Bytes of a block, about: a block ends with the line that reaches it.
  static let size = 32 << 10
  /// Between the numbers of two blocks, so that one that grew can be split.
  static let step: Int64 = 1 << 10

  let connection: Connection
  let shard: Shard.Index

  /// Hands out the line of a photo; nil when the level has none.
  ///
  /// - Returns: nil when there is no such photo
  func withLine<Result>(
    of md5: MD5, level: Int64, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result? {
    guard level != 0 else { return nil }
    let statement = try connection.prepared(
      """
      SELECT id, is_plain, lines FROM photo_block WHERE level = ? AND first <= ? ORDER BY first DESC LIMIT 1
      """)
    defer { statement.reset() }
    return try md5.withBytes { key -> Result? in
      try statement.bind(.integer(level), at: 1)
      try statement.bind(.blob(key), at: 2)
      guard try statement.step() else { return nil }
      let block = Block(statement, shard)
      return try block.line(of: md5).map { try body(block.lines[within: $0]) }
    }
  }

  /// A row of `photo_block`; its bytes are valid until the statement goes on.
  struct Block {
    var place: BlockPlace
    var isPlain: Bool
    var lines: UnsafeRawBufferPointer

    /// - Parameter statement: its columns begin with id, is_plain, lines
    init(_ statement: Statement, _ shard: Shard.Index) {
      place = BlockPlace(shard: shard, id: statement.anyInteger(0))
      isPlain = statement.flag(1)
      lines = statement.bytes(2)
    }

    init(place: BlockPlace, isPlain: Bool, lines: UnsafeRawBufferPointer) {
      self.place = place
      self.isPlain = isPlain
      self.lines = lines
    }

    var reader: BlockReader { BlockReader(lines, isPlain: isPlain, place: place) }

    /// Where a photo's line stands.
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

    /// Halves the block until the photo's line, or its lack, is found.
    private func search(for md5: MD5) throws -> Range<Int>? {
      // Lines begin at `low`, and at `high` unless that is the end.
      var (low, high) = (0, lines.count)
      while low < high {
        // The line that begins behind the middle; when there is none, the first.
        let behind = BlockReader.end(of: lines, from: low + (high - low) / 2) + 1
        let start = behind < high ? behind : low
        guard let found = MD5(digitsOf: lines, at: start, lowerOnly: true) else {
          throw place.damage("a line is no row of the shard")
        }
        let end = BlockReader.end(of: lines, from: start)
        if found == md5 { return start..<end }
        if md5 < found {
          if start == low { return nil }
          high = start
        } else {
          low = end + 1
        }
      }
      return nil
    }
  }
}
