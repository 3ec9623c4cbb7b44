import SatchelStorage

/// A shard as it is written: its base with the changes on top.
struct ShardMerge {
  private(set) var bytes: [UInt8] = []
  private(set) var photos: Int64

  /// Memory: the shard's bytes; twice that when it has kept lines and changes.
  ///
  /// - Throws: `.damaged` when the base is not what it was when it was written
  init(_ connection: Connection, catalogue: Int64, record: ShardRecord) throws {
    photos = record.photos
    // The counters are only trusted for the room to be reserved.
    bytes.reserveCapacity(
      Int(clamping: max(0, min(record.base.bytes, 1 << 34) + max(0, record.changes) * 160)))
    let base = try LevelReader(connection, record.base, shard: record.shard)
    let overlay = try OverlayReader(
      connection, catalogue: catalogue, in: MD5.bounds(of: record.shard), isEmpty: record.changes == 0)
    while let block = try base.nextBlock() {
      if let change = overlay.current, try change.md5 <= Self.last(of: block) ?? change.md5 {
        try merge(block, overlay)
      } else {
        append(block.lines)
      }
    }
    while overlay.current != nil { try appendChange(overlay) }
    if record.base.kept > 0, record.changes > 0 { try settle(record.shard) }
  }

  /// Of a plain block, its last photo; nil for any other, whose end is not found so easily.
  private static func last(of block: BlockTable.Block) throws -> MD5? {
    guard block.isPlain else { return nil }
    let start = block.lines.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    guard let md5 = MD5(digitsOf: block.lines, at: start, lowerOnly: true) else {
      throw block.place.damage("a line is no row of the shard")
    }
    return md5
  }

  private mutating func merge(_ block: BlockTable.Block, _ overlay: OverlayReader) throws {
    var reader = block.reader
    while let line = try reader.next() {
      switch line {
      case .photo(let md5, let range):
        while let change = overlay.current, change.md5 < md5 { try appendChange(overlay) }
        if overlay.current?.md5 == md5 {
          try appendChange(overlay)
        } else {
          append(block.lines[within: range])
        }
      case .kept(let range):
        let kept = block.lines[within: range]
        while let change = overlay.current, change.line.map({ ShardWriter.precedes($0, kept) }) ?? false {
          try appendChange(overlay)
        }
        append(kept)
      }
    }
  }

  private mutating func appendChange(_ overlay: OverlayReader) throws {
    if let line = overlay.current?.line { append(line) }
    try overlay.advance()
  }

  /// Lines are joined by line feeds. The first is never empty, and neither is any other.
  private mutating func append(_ lines: UnsafeRawBufferPointer) {
    if lines.isEmpty { return }
    if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
    bytes.append(contentsOf: lines)
  }

  /// A kept line with an open quote may now stand before one that closes it: the shard is what is read of it then.
  private mutating func settle(_ shard: Shard.Index) throws {
    (bytes, photos) = try bytes.withUnsafeBytes { merged in
      try ShardContent.reading(merged, shard: shard) { ($0.written(from: $1), Int64($0.entries.count)) }
    }
  }
}
