import SatchelCore
import SatchelStorage

extension BlockTable {
  /// A block to be written, without its id.
  struct Content {
    var first: MD5?
    /// The dates of the photos, in their order.
    var dates: [Int64] = []
    private(set) var earliest: Int64?
    private(set) var latest: Int64?
    var hasKept = false
    var lines: Range<Int>
    /// The numbers of the lines in the file that the first and the last photo's rows begin on.
    private var firstLine = 0
    private var lastLine = 0
    private var lastRow = 0..<0

    init(lines: Range<Int>) { self.lines = lines }

    /// Adds the next photo of the file.
    mutating func add(_ entry: ShardContent.Entry) {
      if first == nil { (first, firstLine) = (entry.md5, entry.line) }
      (lastLine, lastRow) = (entry.line, entry.range)
      if dates.isEmpty { dates.reserveCapacity(512) }
      dates.append(entry.photodate)
      earliest = min(earliest ?? entry.photodate, entry.photodate)
      latest = max(latest ?? entry.photodate, entry.photodate)
    }

    var photos: Int64 { Int64(dates.count) }

    /// Whether every row is one photo on one line: quoted strings can contain line feeds.
    func isPlain(in file: ShardFile) -> Bool {
      let last = file.bytes[within: file.offsets(lastRow)]
      return !hasKept && Int64(lastLine - firstLine + 1) == photos
        && BlockReader.end(of: last, from: 0) == last.count
    }
  }

  /// Writes all blocks of a version that has none yet.
  func write(_ file: ShardFile, version: Int64) throws {
    var number: Int64 = 0
    func finish(_ content: Content) throws {
      guard number <= 0xFFFF_FFFF else {
        throw SatchelError(
          .invalid, "shard \(shard): \(file.bytes.count) bytes are more than a shard can hold")
      }
      try put(content, of: file, id: version << 32 | number, version: version)
      number += Self.step
    }
    if file.kept.isEmpty {
      try cut(file, file.entries[...], finish)
    } else {
      try cutAll(file, finish)
    }
  }

  /// Cuts consecutive photos into blocks.
  func cut(
    _ file: ShardFile, _ entries: ArraySlice<ShardContent.Entry>, _ body: (Content) throws -> Void
  ) throws {
    var start = entries.startIndex
    while start < entries.endIndex {
      let begin = file.offsets(entries[start].range).lowerBound
      var content = Content(lines: begin..<begin)
      var end = begin
      while start < entries.endIndex, end - begin < Self.size {
        content.add(entries[start])
        end = file.offsets(entries[start].range).upperBound
        start += 1
      }
      content.lines = begin..<end
      try body(content)
    }
  }

  /// Cuts photos and kept lines into blocks, each of which begins with a line.
  private func cutAll(_ file: ShardFile, _ body: (Content) throws -> Void) throws {
    var kept = file.kept[...]
    var open: Content?
    func add(_ range: Range<Int>, _ entry: ShardContent.Entry?) throws {
      if let full = open, full.lines.count >= Self.size {
        try body(full)
        open = nil
      }
      var content = open ?? Content(lines: range)
      content.lines = content.lines.lowerBound..<range.upperBound
      if let entry { content.add(entry) } else { content.hasKept = true }
      open = content
    }
    for entry in file.entries {
      let range = file.offsets(entry.range)
      while let line = kept.first, line.lowerBound < range.lowerBound {
        try add(line, nil)
        kept.removeFirst()
      }
      try add(range, entry)
    }
    for line in kept { try add(line, nil) }
    if let open { try body(open) }
  }

  /// Inserts or replaces one block.
  func put(_ content: Content, of file: ShardFile, id: Int64, version: Int64) throws {
    let lines = file.bytes[within: content.lines]
    let statement = try connection.prepared(
      """
      INSERT OR REPLACE INTO photo_block(id, level, first, photos, earliest, latest, is_plain, lines)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?)
      """)
    defer { statement.reset() }
    func step(_ first: Binding) throws {
      try statement.bind(.integer(id), at: 1)
      try statement.bind(.integer(version), at: 2)
      try statement.bind(first, at: 3)
      try statement.bind(.integer(content.photos), at: 4)
      try statement.bind(content.earliest.map { .integer($0) } ?? .null, at: 5)
      try statement.bind(content.latest.map { .integer($0) } ?? .null, at: 6)
      try statement.bind(.integer(content.isPlain(in: file) ? 1 : 0), at: 7)
      try statement.bind(.blob(lines), at: 8)
      _ = try statement.step()
    }
    if let first = content.first {
      try first.withBytes { try step(.blob($0)) }
    } else {
      try step(.null)
    }
    try BlockDates(connection: connection)
      .put(content.dates, from: content.earliest ?? 0, to: content.latest ?? 0, block: id)
  }
}

extension BlockTable {
  /// Makes a version's blocks hold a file's content; writes only the blocks that change. Neither may have
  /// kept lines.
  ///
  /// Blocks keep their ranges of md5; a block that becomes too large is split.
  ///
  /// - Returns: false when there is no free id between two blocks: the whole version has to be written
  func replace(_ version: ShardVersion, with file: ShardFile) throws -> Bool {
    let starts = try starts(of: version)
    guard !starts.isEmpty, !file.entries.isEmpty else { return false }
    var position = 0
    for (index, start) in starts.enumerated() {
      let isLast = index + 1 == starts.count
      let end = isLast ? file.entries.count : file.position(of: starts[index + 1].first)
      guard end >= position else {
        throw BlockLocation(shard: shard, id: start.id).damage("blocks are not in order")
      }
      let entries = file.entries[position..<end]
      position = end
      let gap = (isLast ? version.blocks.upperBound : starts[index + 1].id) - start.id
      if try !replace(start.id, version: version.id, with: entries, of: file, gap: gap) { return false }
    }
    return true
  }

  private func starts(of version: ShardVersion) throws -> [(id: Int64, first: MD5)] {
    var starts: [(id: Int64, first: MD5)] = []
    try connection.each(
      "SELECT id, first FROM photo_block WHERE id BETWEEN ? AND ? ORDER BY id",
      .integer(version.blocks.lowerBound), .integer(version.blocks.upperBound)
    ) { row in
      guard let first = MD5(row: row.bytes(1)) else {
        throw BlockLocation(shard: shard, id: row.anyInteger(0)).damage(
          "the md5 of its first photo cannot be read")
      }
      starts.append((row.anyInteger(0), first))
    }
    return starts
  }

  private func replace(
    _ id: Int64, version: Int64, with entries: ArraySlice<ShardContent.Entry>, of file: ShardFile, gap: Int64
  ) throws -> Bool {
    guard let first = entries.first, let last = entries.last else {
      try connection.run("DELETE FROM photo_block WHERE id = ?", .integer(id))
      try BlockDates(connection: connection).remove(id...id)
      return true
    }
    let range = file.offsets(first.range).lowerBound..<file.offsets(last.range).upperBound
    let isSame =
      try connection.first("SELECT lines FROM photo_block WHERE id = ?", .integer(id)) {
        $0.bytes(0).elementsEqualInMemory(file.bytes[within: range])
      } ?? false
    if isSame { return true }
    var parts: [Content] = []
    if range.count <= Self.size * 2 {
      var content = Content(lines: range)
      for entry in entries { content.add(entry) }
      parts = [content]
    } else {
      try cut(file, entries) { parts.append($0) }
    }
    let step = gap / Int64(parts.count)
    guard step > 0 else { return false }
    for (number, part) in parts.enumerated() {
      try put(part, of: file, id: id + Int64(number) * step, version: version)
    }
    return true
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
