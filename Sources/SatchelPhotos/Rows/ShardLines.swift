import SatchelCore
import SatchelStorage

/// Writes a shard: its photos in the order of their md5, merged with the kept lines in the order of their bytes.
struct ShardLines {
  /// Receives the shard's bytes in parts; each part is valid only during the call.
  typealias Sink = (UnsafeRawBufferPointer) throws -> Void

  /// The content that is written.
  enum Version {
    /// The photos as they are.
    case local
    /// The version synchronized last.
    case synced
  }

  private static let partSize = 1 << 16

  private var part: [UInt8] = []
  private var isEmpty = true
  private var photos: Int64 = 0

  /// Writes a version of a shard to a sink. Memory: a part; three times the shard's bytes when a kept line has a quote.
  ///
  /// - Returns: the number of photos
  static func write(
    _ version: Version, of record: ShardRecord, _ connection: Connection, catalogue: Int64, to sink: Sink
  ) throws -> Int64 {
    if version == .synced, record.isUnmet { return 0 }
    let kept = try keptLines(version, of: record, connection, catalogue: catalogue)
    var lines = ShardLines()
    guard kept.contains(where: { $0.contains(UInt8(ascii: "\"")) }) else {
      try lines.writeAll(version, of: record, kept: kept, connection, catalogue: catalogue, to: sink)
      return lines.photos
    }
    var bytes: [UInt8] = []
    try lines.writeAll(version, of: record, kept: kept, connection, catalogue: catalogue) {
      bytes.append(contentsOf: $0)
    }
    // A kept line with an open quote may be before a line that closes it: the content is then what these bytes parse
    // to.
    return try bytes.withUnsafeBytes { bytes in
      try ShardContent.reading(bytes, shard: record.shard) { content, bytes in
        try content.written(from: bytes).withUnsafeBytes { try sink($0) }
        return Int64(content.entries.count)
      }
    }
  }

  /// Returns the bytes of a version of a shard.
  static func bytes(
    _ version: Version, of record: ShardRecord, _ connection: Connection, catalogue: Int64
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(record.bytesToReserve)
    _ = try write(version, of: record, connection, catalogue: catalogue) { bytes.append(contentsOf: $0) }
    return bytes
  }

  private static func keptLines(
    _ version: Version, of record: ShardRecord, _ connection: Connection, catalogue: Int64
  ) throws -> [[UInt8]] {
    guard record.kept > 0 || record.keptChanges > 0 else { return [] }
    return try KeptTable(connection: connection, catalogue: catalogue, shard: record.shard).all().flatMap {
      [[UInt8]](repeating: $0.line, count: Int(version == .local ? $0.copies.local : $0.copies.synced))
    }
  }

  private mutating func writeAll(
    _ version: Version, of record: ShardRecord, kept: [[UInt8]], _ connection: Connection, catalogue: Int64,
    to sink: Sink
  ) throws {
    let rows = try PhotoLineReader(connection, catalogue: catalogue, record.shard)
    let base = try BaseReader(
      connection, catalogue: catalogue, record.shard,
      isEmpty: version == .local || record.changes == 0 && record.imports == 0)
    var kept = kept[...]
    func add(_ line: [UInt8]) throws {
      while let next = kept.first, next.lexicographicallyPrecedes(line) {
        try append(next, to: sink)
        kept.removeFirst()
      }
      try append(line, to: sink)
      photos += 1
    }
    while true {
      if let md5 = base.md5, md5 <= rows.md5 ?? md5 {
        // Of a changed photo, the row is not what was synchronized.
        if let line = base.row?.base.line { try add(line) }
        if rows.md5 == md5 { try rows.advance() }
        try base.advance()
      } else if rows.md5 != nil {
        try add(rows.line)
        try rows.advance()
      } else {
        break
      }
    }
    for line in kept { try append(line, to: sink) }
    try flush(to: sink)
  }

  private mutating func append(_ line: [UInt8], to sink: Sink) throws {
    if !isEmpty { part.append(UInt8(ascii: "\n")) }
    isEmpty = false
    part.append(contentsOf: line)
    if part.count >= Self.partSize { try flush(to: sink) }
  }

  private mutating func flush(to sink: Sink) throws {
    if part.isEmpty { return }
    try part.withUnsafeBytes { try sink($0) }
    part.removeAll(keepingCapacity: true)
  }
}
