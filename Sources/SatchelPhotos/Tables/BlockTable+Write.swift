import SatchelStorage

extension BlockTable {
  /// What is written of a block besides its id.
  struct Content {
    var first: MD5?
    /// Of its photos, in their order.
    var dates: [Int64] = []
    private(set) var earliest: Int64?
    private(set) var latest: Int64?
    var hasKept = false
    var lines: Range<Int>
    /// Where the first and the last photo's rows begin: numbers of lines in the file.
    private var firstLine = 0
    private var lastLine = 0
    private var lastRow = 0..<0

    init(lines: Range<Int>) { self.lines = lines }

    /// Adds the photo that follows in the file.
    mutating func add(_ entry: ShardContent.Entry) {
      if first == nil { (first, firstLine) = (entry.md5, entry.line) }
      (lastLine, lastRow) = (entry.line, entry.range)
      if dates.isEmpty { dates.reserveCapacity(512) }
      dates.append(entry.photodate)
      earliest = min(earliest ?? entry.photodate, entry.photodate)
      latest = max(latest ?? entry.photodate, entry.photodate)
    }

    var photos: Int64 { Int64(dates.count) }

    /// Whether every row is one photo on one line: quoted texts can have line feeds.
    func isPlain(in file: ShardFile) -> Bool {
      let last = file.bytes[within: file.place(lastRow)]
      return !hasKept && Int64(lastLine - firstLine + 1) == photos
        && BlockReader.end(of: last, from: 0) == last.count
    }
  }

  /// Writes all blocks of a level that has none yet.
  func write(_ file: ShardFile, level: Int64) throws {
    var number: Int64 = 0
    func finish(_ content: Content) throws {
      guard number <= 0xFFFF_FFFF else {
        throw SatchelError(
          .invalid, "shard \(shard): \(file.bytes.count) bytes are more than a shard can hold")
      }
      try put(content, of: file, id: level << 32 | number, level: level)
      number += Self.step
    }
    if file.kept.isEmpty {
      try cut(file, file.entries[...], finish)
    } else {
      try cutAll(file, finish)
    }
  }

  /// Cuts photos that follow each other into blocks.
  func cut(
    _ file: ShardFile, _ entries: ArraySlice<ShardContent.Entry>, _ body: (Content) throws -> Void
  ) throws {
    var start = entries.startIndex
    while start < entries.endIndex {
      let begin = file.place(entries[start].range).lowerBound
      var content = Content(lines: begin..<begin)
      var end = begin
      while start < entries.endIndex, end - begin < Self.size {
        content.add(entries[start])
        end = file.place(entries[start].range).upperBound
        start += 1
      }
      content.lines = begin..<end
      try body(content)
    }
  }

  /// Cuts photos and kept lines into blocks, each beginning with a line.
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
      let range = file.place(entry.range)
      while let line = kept.first, line.lowerBound < range.lowerBound {
        try add(line, nil)
        kept.removeFirst()
      }
      try add(range, entry)
    }
    for line in kept { try add(line, nil) }
    if let open { try body(open) }
  }

  /// Writes one block, or writes it anew.
  func put(_ content: Content, of file: ShardFile, id: Int64, level: Int64) throws {
    let lines = file.bytes[within: content.lines]
    let statement = try connection.prepared(
      """
      INSERT OR REPLACE INTO photo_block(id, level, first, photos, earliest, latest, is_plain, lines)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?)
      """)
    defer { statement.reset() }
    func step(_ first: Binding) throws {
      try statement.bind(.integer(id), at: 1)
      try statement.bind(.integer(level), at: 2)
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
