import SatchelCore
import SatchelStorage

extension BlockTable {
  /// A block to be written.
  struct Content {
    var lines: Range<Int>
    var hasKept = false
    private(set) var photos = 0
    /// The last place that it has photos of, without the shard; at first the one after those of the block before.
    private(set) var place: UInt32
    /// The numbers of the lines in the file that the first and the last photo's rows begin on.
    private var firstLine = 0
    private var lastLine = 0
    private var lastRow = 0..<0

    init(after place: UInt32?, lines: Range<Int>) {
      (self.place, self.lines) = (place.map { $0 &+ 1 } ?? 0, lines)
    }

    /// Adds the next photo of the file.
    mutating func add(_ entry: ShardContent.Entry) {
      if photos == 0 { firstLine = entry.line }
      (lastLine, lastRow) = (entry.line, entry.range)
      place = UInt32(truncatingIfNeeded: entry.md5.place)
      photos += 1
    }

    /// Whether every row is one photo on one line: quoted strings can contain line feeds.
    func isPlain(in file: ShardFile) -> Bool {
      let last = file.bytes[within: file.offsets(lastRow)]
      return !hasKept && lastLine - firstLine + 1 == photos
        && BlockReader.end(of: last, from: 0) == last.count
    }
  }

  /// Writes all blocks of a version that has none yet.
  func write(_ file: ShardFile, version: Int64) throws {
    if file.kept.isEmpty {
      try cut(file.entries[...], of: file, upTo: .max) { try put($0, of: file, upTo: $1, version: version) }
    } else {
      try cutAll(file) { try put($0, of: file, upTo: $1, version: version) }
    }
    try DateTable(connection: connection).write(file.entries, version: version)
  }

  /// Cuts consecutive photos into blocks; passes each to `body`, with the last place that it can have photos of.
  ///
  /// - Parameter end: that of the last block
  private func cut(
    _ entries: ArraySlice<ShardContent.Entry>, of file: ShardFile, upTo end: UInt32,
    _ body: (Content, UInt32) throws -> Void
  ) throws {
    guard let first = entries.first else { return }
    var content = Content(after: nil, lines: file.offsets(first.range))
    for entry in entries {
      let range = file.offsets(entry.range)
      if content.photos > 0, range.upperBound - content.lines.lowerBound > Self.size,
        UInt32(truncatingIfNeeded: entry.md5.place) > content.place
      {
        try body(content, content.place)
        content = Content(after: content.place, lines: range)
      }
      content.lines = content.lines.lowerBound..<range.upperBound
      content.add(entry)
    }
    try body(content, end)
  }

  /// Cuts photos and kept lines into blocks, each of which begins with a line.
  private func cutAll(_ file: ShardFile, _ body: (Content, UInt32) throws -> Void) throws {
    var kept = file.kept[...]
    var open: Content?
    /// - Parameter following: the next photo, which is the line's own if it has one
    func add(_ range: Range<Int>, _ entry: ShardContent.Entry?, before following: ShardContent.Entry?) throws
    {
      var content = open ?? Content(after: nil, lines: range)
      let next = following.map { UInt32(truncatingIfNeeded: $0.md5.place) } ?? .max
      if open != nil, range.upperBound - content.lines.lowerBound > Self.size, next > content.place {
        try body(content, content.place)
        content = Content(after: content.place, lines: range)
      }
      content.lines = content.lines.lowerBound..<range.upperBound
      if let entry { content.add(entry) } else { content.hasKept = true }
      open = content
    }
    for entry in file.entries {
      let range = file.offsets(entry.range)
      while let line = kept.first, line.lowerBound < range.lowerBound {
        try add(line, nil, before: entry)
        kept.removeFirst()
      }
      try add(range, entry, before: entry)
    }
    for line in kept { try add(line, nil, before: nil) }
    if let open { try body(open, .max) }
  }

  /// Inserts or replaces one block.
  private func put(_ content: Content, of file: ShardFile, upTo place: UInt32, version: Int64) throws {
    let statement = try connection.prepared(
      "INSERT OR REPLACE INTO photo_block(id, is_plain, lines) VALUES(?, ?, ?)")
    defer { statement.reset() }
    try statement.bind(.integer(version << 32 | Int64(place)), at: 1)
    try statement.bind(.integer(content.isPlain(in: file) ? 1 : 0), at: 2)
    try statement.bind(.blob(file.bytes[within: content.lines]), at: 3)
    _ = try statement.step()
  }
}

extension BlockTable {
  /// Makes a version's blocks hold a file's content; writes only the blocks that change. Neither may have
  /// kept lines.
  ///
  /// Blocks keep their last place; a block that becomes too large is split.
  ///
  /// - Returns: false when the last block is missing, or would be empty: the whole version has to be written
  func replace(_ version: ShardVersion, with file: ShardFile) throws -> Bool {
    guard let changed = try changed(version, file) else { return false }
    for (id, entries) in changed {
      if entries.isEmpty { try connection.run("DELETE FROM photo_block WHERE id = ?", .integer(id)) }
      try cut(file.entries[entries], of: file, upTo: UInt32(truncatingIfNeeded: id)) {
        try put($0, of: file, upTo: $1, version: version.id)
      }
    }
    try DateTable(connection: connection).write(file.entries, version: version.id)
    return true
  }

  /// Returns the blocks that differ from a file, and the indices of the photos that they are to have; nil when the
  /// version's last block is missing, or is to have none.
  private func changed(_ version: ShardVersion, _ file: ShardFile) throws -> [(Int64, Range<Int>)]? {
    var changed: [(Int64, Range<Int>)] = []
    var last: Int64 = -1
    var start = 0
    var isEmpty = true
    try connection.each(
      "SELECT id, lines FROM photo_block WHERE id BETWEEN ? AND ? ORDER BY id",
      .integer(version.blocks.lowerBound), .integer(version.blocks.upperBound)
    ) { row in
      let (id, lines) = (row.anyInteger(0), row.bytes(1))
      try RowOrder.check(id, after: last, of: "photo_block")
      last = id
      let next = MD5(place: BlockLocation(shard: shard, id: id).place + 1)
      let end = id == version.blocks.upperBound ? file.entries.count : file.position(of: next)
      let photos = start..<max(start, end)
      start = photos.upperBound
      isEmpty = photos.isEmpty
      if !isEmpty {
        let first = file.offsets(file.entries[photos.lowerBound].range)
        let range = first.lowerBound..<file.offsets(file.entries[photos.upperBound - 1].range).upperBound
        if lines.elementsEqualInMemory(file.bytes[within: range]) { return }
      }
      changed.append((id, photos))
    }
    return last == version.blocks.upperBound && !isEmpty ? changed : nil
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes; faster than `elementsEqual`.
  func elementsEqualInMemory(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let one = baseAddress, let two = other.baseAddress else { return true }
    return memcmp(one, two, count) == 0
  }
}
