import SatchelStorage

extension BlockTable {
  /// Makes a level's blocks hold a file's content, writing those only that change. Neither has kept lines.
  ///
  /// Blocks cover ranges of md5, which stay; a block that becomes too large is split.
  ///
  /// - Returns: false when there is no room between two blocks' numbers: the level is to be written anew
  func replace(_ level: ShardLevel, with file: ShardFile) throws -> Bool {
    let starts = try starts(of: level)
    guard !starts.isEmpty, !file.entries.isEmpty else { return false }
    var position = 0
    for (index, start) in starts.enumerated() {
      let isLast = index + 1 == starts.count
      let end = isLast ? file.entries.count : file.position(of: starts[index + 1].first)
      guard end >= position else {
        throw BlockPlace(shard: shard, id: start.id).damage("blocks are not in order")
      }
      let entries = file.entries[position..<end]
      position = end
      let room = (isLast ? level.blocks.upperBound : starts[index + 1].id) - start.id
      if try !replace(start.id, level: level.id, with: entries, of: file, room: room) { return false }
    }
    return true
  }

  private func starts(of level: ShardLevel) throws -> [(id: Int64, first: MD5)] {
    var starts: [(id: Int64, first: MD5)] = []
    try connection.each(
      "SELECT id, first FROM photo_block WHERE id BETWEEN ? AND ? ORDER BY id",
      .integer(level.blocks.lowerBound), .integer(level.blocks.upperBound)
    ) { row in
      guard let first = MD5(row: row.bytes(1)) else {
        throw BlockPlace(shard: shard, id: row.anyInteger(0)).damage("its first photo is not known")
      }
      starts.append((row.anyInteger(0), first))
    }
    return starts
  }

  private func replace(
    _ id: Int64, level: Int64, with entries: ArraySlice<ShardContent.Entry>, of file: ShardFile, room: Int64
  ) throws -> Bool {
    guard let first = entries.first, let last = entries.last else {
      try connection.run("DELETE FROM photo_block WHERE id = ?", .integer(id))
      try BlockDates(connection: connection).remove(id...id)
      return true
    }
    let range = file.place(first.range).lowerBound..<file.place(last.range).upperBound
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
    let step = room / Int64(parts.count)
    guard step > 0 else { return false }
    for (number, part) in parts.enumerated() {
      try put(part, of: file, id: id + Int64(number) * step, level: level)
    }
    return true
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes.
  func elementsEqualInMemory(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let one = baseAddress, let two = other.baseAddress else { return true }
    return memcmp(one, two, count) == 0
  }
}
