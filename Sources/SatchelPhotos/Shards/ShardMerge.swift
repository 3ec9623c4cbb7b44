import SatchelCore
import SatchelStorage

/// Writes a shard: its base, merged with its changes.
struct ShardMerge {
  /// Receives the shard's bytes in parts; each part is valid only during the call.
  typealias Sink = (UnsafeRawBufferPointer) throws -> Void

  /// Whether no line was written yet.
  private var isEmpty = true

  /// Writes a shard to a sink. Memory: a block; three times the shard's bytes when it has kept lines and
  /// changes.
  ///
  /// - Returns: the number of photos
  /// - Throws: `.damaged` when the base differs from what was written
  static func write(
    _ connection: Connection, catalogue: Int64, record: ShardRecord, to sink: Sink
  ) throws -> Int64 {
    guard record.base.kept > 0, record.changes > 0 else {
      var merge = ShardMerge()
      try merge.writeAll(record, of: catalogue, connection, to: sink)
      return record.photos
    }
    var merged: [UInt8] = []
    var merge = ShardMerge()
    try merge.writeAll(record, of: catalogue, connection) { merged.append(contentsOf: $0) }
    // A kept line with an open quote may now be before a line that closes it: the content is then what these
    // bytes parse to.
    return try merged.withUnsafeBytes { merged in
      try ShardContent.reading(merged, shard: record.shard) { content, bytes in
        try content.written(from: bytes).withUnsafeBytes { try sink($0) }
        return Int64(content.entries.count)
      }
    }
  }

  /// Returns a shard's bytes.
  static func bytes(_ connection: Connection, catalogue: Int64, record: ShardRecord) throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(record.bytesToReserve)
    _ = try write(connection, catalogue: catalogue, record: record) { bytes.append(contentsOf: $0) }
    return bytes
  }

  private mutating func writeAll(
    _ record: ShardRecord, of catalogue: Int64, _ connection: Connection, to sink: Sink
  ) throws {
    let base = try ShardVersionReader(connection, record.base, shard: record.shard)
    let overlay = try OverlayReader(
      connection, catalogue: catalogue, in: MD5.bounds(of: record.shard), isEmpty: record.changes == 0)
    while let block = try base.nextBlock() {
      if let change = overlay.current, try change.md5 <= Self.last(of: block) ?? change.md5 {
        try merge(block, overlay, to: sink)
      } else {
        try append(block.lines, to: sink)
      }
    }
    while overlay.current != nil { try appendChange(overlay, to: sink) }
  }

  /// Returns the last photo of a plain block; nil for any other block, whose last photo takes a full parse to
  /// find.
  private static func last(of block: BlockTable.Block) throws -> MD5? {
    guard block.isPlain else { return nil }
    let start = block.lines.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    guard let md5 = MD5(digitsOf: block.lines, at: start, lowerOnly: true) else {
      throw block.location.damage("a line is not a row of the shard")
    }
    return md5
  }

  private mutating func merge(_ block: BlockTable.Block, _ overlay: OverlayReader, to sink: Sink) throws {
    var reader = block.reader
    while let line = try reader.next() {
      switch line {
      case .photo(let md5, let range):
        while let change = overlay.current, change.md5 < md5 { try appendChange(overlay, to: sink) }
        if overlay.current?.md5 == md5 {
          try appendChange(overlay, to: sink)
        } else {
          try append(block.lines[within: range], to: sink)
        }
      case .kept(let range):
        let kept = block.lines[within: range]
        while let change = overlay.current, change.line.map({ ShardWriter.precedes($0, kept) }) ?? false {
          try appendChange(overlay, to: sink)
        }
        try append(kept, to: sink)
      }
    }
  }

  private mutating func appendChange(_ overlay: OverlayReader, to sink: Sink) throws {
    if let line = overlay.current?.line { try append(line, to: sink) }
    try overlay.advance()
  }

  /// Writes lines, joined to those before by a line feed. A line is never empty.
  private mutating func append(_ lines: UnsafeRawBufferPointer, to sink: Sink) throws {
    if lines.isEmpty { return }
    if !isEmpty { try withUnsafeBytes(of: UInt8(ascii: "\n")) { try sink($0) } }
    isEmpty = false
    try sink(lines)
  }
}
