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
  ///   - wanted: the photos of the base to visit, in the order of their places, as the dates in the store have them;
  ///     nil to visit all
  ///   - begin: called for each part of the range before its photos
  /// - Returns: false when `visit` ended it
  /// - Throws: `.damaged` also when the base has not the wanted photos
  func each(
    in range: ClosedRange<MD5>, isDescending: Bool, wanted: [DateEntry]? = nil,
    begin: (ClosedRange<MD5>) throws -> Void = { _ in }, visit: (Row) throws -> Bool
  ) throws -> Bool {
    let wanted = wanted?.filter { range.lowerBound.place...range.upperBound.place ~= $0.place }
    let source = try BlockSource(
      connection, record.base, shard: record.shard, in: range, isDescending: isDescending,
      places: wanted?.map(\.place))
    let copy = BlockCopy()
    var rest = range
    func visitPart(_ block: BlockTable.Block?, _ part: ClosedRange<MD5>) throws -> Bool {
      for piece in isDescending ? split(part).reversed() : split(part) {
        try begin(piece)
        let shouldContinue = try withRows(of: block, in: piece, wanted) { rows in
          for row in isDescending ? rows.reversed() : rows where try !visit(row) { return false }
          return true
        }
        if !shouldContinue { return false }
      }
      return true
    }
    // Each block's part goes from the block before to its last place, with the changes after the last block and those
    // for blocks that are not read.
    while let next = try source.next() {
      let end = min(MD5(lastOf: next.location.place), range.upperBound)
      guard isDescending else {
        guard rest.lowerBound <= end else { continue }
        guard try visitPart(next, rest.lowerBound...end) else { return false }
        guard end < range.upperBound, let start = end.next else { return true }
        rest = start...range.upperBound
        continue
      }
      if let start = end.next, start <= rest.upperBound {
        guard try visitPart(copy.block, start...rest.upperBound) else { return false }
        rest = range.lowerBound...max(end, range.lowerBound)
      }
      copy.load(next)
    }
    return try visitPart(isDescending ? copy.block : nil, rest)
  }

  // MARK: Parts

  /// The approximate maximum of changes in a part: MD5s are evenly distributed.
  private static let maxChanges: Double = 512

  /// Splits a part, so that not too many changes are in memory at once.
  private func split(_ part: ClosedRange<MD5>) -> [ClosedRange<MD5>] {
    let (lower, upper) = (part.lowerBound, part.upperBound)
    let share = Double(upper.high - lower.high) / 0x1p60 * Double(max(0, record.changes))
    let pieces = UInt64(min(max(1, share / Self.maxChanges), 0x1p20))
    let width = (upper.high - lower.high) / pieces
    guard pieces > 1, width > 0 else { return [part] }
    var parts: [ClosedRange<MD5>] = []
    var start = lower
    for piece in 1..<pieces {
      let end = MD5(high: lower.high + width * piece, low: 0)
      guard let last = end.previous, start <= last else { continue }
      parts.append(start...last)
      start = end
    }
    return parts + [start...upper]
  }

  private func withRows(
    of block: BlockTable.Block?, in part: ClosedRange<MD5>, _ wanted: [DateEntry]?,
    _ body: ([Row]) throws -> Bool
  ) throws -> Bool {
    let changes = try changes(in: part)
    // Rows are pointers into it.
    return try withExtendedLifetime(changes.memory) {
      guard let block else {
        if let wanted, wanted.contains(where: { part.contains(MD5(place: $0.place)) }) { throw damage() }
        return try body(changes.rows)
      }
      let rows = try wanted.map { try self.rows(of: block, $0, in: part) } ?? self.rows(of: block, in: part)
      return try body(merge(rows, changes))
    }
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

  /// Returns all photos of a block that are in a range.
  private func rows(of block: BlockTable.Block, in range: ClosedRange<MD5>) throws -> [Row] {
    var rows: [Row] = []
    var last: MD5?
    var reader = ShardReader(block.lines, shard: record.shard)
    while let piece = reader.next() {
      guard case .photo(let row) = piece else {
        if block.isPlain { throw block.location.damage("a line is not a row of the shard") }
        continue
      }
      if let last, last >= row.md5 { throw block.location.damage("photos are not in order") }
      last = row.md5
      if range.contains(row.md5) { rows.append(Row(row: row, bytes: block.lines, isInBase: true)) }
    }
    return rows
  }

  /// Returns the wanted photos of a block that are in a range; maybe others of their places.
  private func rows(
    of block: BlockTable.Block, _ wanted: [DateEntry], in range: ClosedRange<MD5>
  ) throws -> [Row] {
    guard block.isPlain else { return try rows(of: block, in: range) }
    var rows: [Row] = []
    // The first that is not before the range.
    var index = wanted.startIndex
    var high = wanted.endIndex
    while index < high {
      let middle = (index + high) / 2
      if wanted[middle].place < range.lowerBound.place { index = middle + 1 } else { high = middle }
    }
    while index < wanted.endIndex, wanted[index].place <= range.upperBound.place {
      let place = wanted[index].place
      var found: [Int64] = []
      var reader = ShardReader(block.lines, shard: record.shard)
      reader.position = try block.start(of: MD5(place: place))
      while MD5(digitsOf: block.lines, at: reader.position, lowerOnly: true)?.place == place,
        case .photo(let row) = reader.next()
      {
        found.append(row.photodate)
        if range.contains(row.md5) { rows.append(Row(row: row, bytes: block.lines, isInBase: true)) }
      }
      while index < wanted.endIndex, wanted[index].place == place {
        guard found.contains(wanted[index].date) else { throw damage() }
        index += 1
      }
    }
    return rows
  }

  private func damage() -> SatchelError {
    SatchelError(.damaged, "photo_date: the dates of shard \(record.shard) are not those of its photos")
  }

  /// Merges photos of the base with the changes.
  private func merge(_ base: [Row], _ changes: Changes) -> [Row] {
    guard !changes.all.isEmpty else { return base }
    var rows: [Row] = []
    var (next, nextChanged) = (0, 0)
    for row in base {
      while next < changes.rows.count, changes.rows[next].md5 < row.md5 {
        rows.append(changes.rows[next])
        next += 1
      }
      while nextChanged < changes.all.count, changes.all[nextChanged] < row.md5 { nextChanged += 1 }
      if nextChanged < changes.all.count, changes.all[nextChanged] == row.md5 { continue }
      rows.append(row)
    }
    return rows + changes.rows[next...]
  }
}
