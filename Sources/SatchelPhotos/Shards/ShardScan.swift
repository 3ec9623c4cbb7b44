import SatchelCore
import SatchelStorage

/// Visits a shard's photos in the order of their md5, forwards or backwards, with the changes merged. Memory:
/// two blocks, and some 500 changes.
struct ShardScan {
  /// A photo's row; its bytes are valid only during the visit.
  struct Row {
    var row: ShardRow
    var bytes: UnsafeRawBufferPointer
    /// Whether the base has a row of the photo, even a different one.
    var isInBase: Bool

    var md5: MD5 { row.md5 }
    var line: UnsafeRawBufferPointer { bytes[within: row.start..<row.end] }
  }

  let connection: Connection
  let catalogue: Int64
  let record: ShardRecord

  /// Visits photos of a range until `visit` returns false.
  ///
  /// - Parameters:
  ///   - dates: photos of other dates may be left out
  ///   - begin: called for each part of the range before its photos
  /// - Returns: false when `visit` ended it
  func each(
    in range: ClosedRange<MD5>, isDescending: Bool,
    dates: ClosedRange<Int64> = .min ... .max,
    begin: (ClosedRange<MD5>) throws -> Void = { _ in }, visit: (Row) throws -> Bool
  ) throws -> Bool {
    let parts = try parts(of: range).flatMap(split)
    let idle = try BlockDates(connection: connection).blocks(of: record.base, without: dates)
    for part in isDescending ? parts.reversed() : parts {
      try begin(part.range)
      let shouldContinue = try withRows(of: part, dates, without: idle) { rows in
        for row in isDescending ? rows.reversed() : rows where try !visit(row) { return false }
        return true
      }
      if !shouldContinue { return false }
    }
    return true
  }

  // MARK: Parts

  /// The range of one block, clamped to the range of the scan.
  private struct Part {
    /// The block's id; nil when there is no block.
    var block: Int64?
    var range: ClosedRange<MD5>
  }

  private func parts(of range: ClosedRange<MD5>) throws -> [Part] {
    var starts: [(id: Int64, first: MD5)] = []
    try connection.each(
      "SELECT id, first FROM photo_block WHERE level = ? AND first IS NOT NULL ORDER BY first",
      .integer(record.base.id)
    ) { row in
      guard let first = MD5(row: row.bytes(1)) else {
        throw BlockLocation(shard: record.shard, id: row.anyInteger(0)).damage(
          "the md5 of its first photo cannot be read")
      }
      starts.append((row.anyInteger(0), first))
    }
    guard !starts.isEmpty else { return [Part(block: nil, range: range)] }
    var parts: [Part] = []
    for (index, start) in starts.enumerated() {
      // Changes before the first block belong to it.
      let lower = index == 0 ? range.lowerBound : max(start.first, range.lowerBound)
      guard index + 1 < starts.count else {
        if lower <= range.upperBound { parts.append(Part(block: start.id, range: lower...range.upperBound)) }
        break
      }
      let next = starts[index + 1].first
      guard let last = next.previous, lower <= last, lower <= range.upperBound else { continue }
      parts.append(Part(block: start.id, range: lower...min(last, range.upperBound)))
    }
    return parts
  }

  /// The approximate maximum of changes in a part: MD5s are evenly distributed.
  private static let maxChanges: Double = 512

  /// Splits a part, so that not too many changes are in memory at once.
  private func split(_ part: Part) -> [Part] {
    let (lower, upper) = (part.range.lowerBound, part.range.upperBound)
    let share = Double(upper.high - lower.high) / 0x1p60 * Double(max(0, record.changes))
    let pieces = UInt64(min(max(1, share / Self.maxChanges), 0x1p20))
    let width = (upper.high - lower.high) / pieces
    guard pieces > 1, width > 0 else { return [part] }
    var parts: [Part] = []
    var start = lower
    for piece in 1..<pieces {
      let end = MD5(high: lower.high + width * piece, low: 0)
      guard let last = end.previous, start <= last else { continue }
      parts.append(Part(block: part.block, range: start...last))
      start = end
    }
    parts.append(Part(block: part.block, range: start...upper))
    return parts
  }

  /// - Parameter idle: blocks that need not be read
  private func withRows(
    of part: Part, _ dates: ClosedRange<Int64>, without idle: Set<Int64>, _ body: ([Row]) throws -> Bool
  ) throws -> Bool {
    let changes = try changes(in: part.range)
    // Rows are pointers into it.
    return try withExtendedLifetime(changes.memory) {
      guard let block = part.block, !idle.contains(block) else { return try body(changes.rows) }
      return try withRows(of: part, in: block, dates, changes, body)
    }
  }

  private func withRows(
    of part: Part, in block: Int64, _ dates: ClosedRange<Int64>, _ changes: Changes,
    _ body: ([Row]) throws -> Bool
  ) throws -> Bool {
    let statement = try connection.prepared(
      "SELECT id, is_plain, lines, earliest, latest FROM photo_block AS scan WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(block), at: 1)
    guard try statement.step() else { return try body(changes.rows) }
    // Blocks without rows in photo_date still have their earliest and latest date.
    guard statement.anyInteger(4) >= dates.lowerBound, statement.anyInteger(3) <= dates.upperBound else {
      return try body(changes.rows)
    }
    return try body(merge(BlockTable.Block(statement, record.shard), part.range, changes))
  }

  /// The changes of a part: rows, the memory that they point into, and the MD5s of all changes, deletions
  /// included.
  private struct Changes {
    var rows: [Row] = []
    var all: [MD5] = []
    var memory: [OwnedBytes] = []
  }

  private func changes(in range: ClosedRange<MD5>) throws -> Changes {
    var changes = Changes()
    guard record.changes > 0 else { return changes }
    let overlay = try OverlayReader(connection, catalogue: catalogue, in: range)
    while let change = overlay.current {
      changes.all.append(change.md5)
      if let line = change.line {
        let owned = OwnedBytes(Array(line))
        var reader = ShardReader(owned.bytes, shard: record.shard)
        guard case .photo(let row) = reader.next(), row.md5 == change.md5 else {
          throw SatchelError(.damaged, "shard \(record.shard): the row of \(change.md5) cannot be read")
        }
        changes.memory.append(owned)
        changes.rows.append(Row(row: row, bytes: owned.bytes, isInBase: change.isInBase))
      }
      try overlay.advance()
    }
    return changes
  }

  private func merge(_ block: BlockTable.Block, _ range: ClosedRange<MD5>, _ changes: Changes) throws -> [Row]
  {
    var rows: [Row] = []
    var (next, nextChanged) = (0, 0)
    var last: MD5?
    var reader = ShardReader(block.lines, shard: record.shard)
    while let piece = reader.next() {
      guard case .photo(let row) = piece else {
        if block.isPlain { throw block.location.damage("a line is not a row of the shard") }
        continue
      }
      if let last, last >= row.md5 { throw block.location.damage("photos are not in order") }
      last = row.md5
      while next < changes.rows.count, changes.rows[next].md5 < row.md5 {
        rows.append(changes.rows[next])
        next += 1
      }
      while nextChanged < changes.all.count, changes.all[nextChanged] < row.md5 { nextChanged += 1 }
      if nextChanged < changes.all.count, changes.all[nextChanged] == row.md5 { continue }
      if range.contains(row.md5) { rows.append(Row(row: row, bytes: block.lines, isInBase: true)) }
    }
    return rows + changes.rows[next...]
  }
}
