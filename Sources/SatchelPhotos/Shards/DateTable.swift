import SatchelCore
import SatchelStorage

/// The table `photo_date`: the photos of each version in the order of their dates.
struct DateTable {
  let connection: Connection

  /// Makes a version's rows those of its photos; writes only rows that differ.
  ///
  /// - Parameter entries: in the order of their md5
  func write(_ entries: [ShardContent.Entry], version: Int64) throws {
    let blocks = version << 32...(version << 32 | 0xFFFF_FFFF)
    var old: Set<Int64> = []
    try connection.each(
      "SELECT id FROM photo_date WHERE id BETWEEN ? AND ?", .integer(blocks.lowerBound),
      .integer(blocks.upperBound)
    ) { old.insert($0.anyInteger(0)) }
    for row in DateRow.rows(of: entries) {
      guard let bucket = row.bucket else { continue }
      let id = version << 32 | bucket
      if old.remove(id) != nil, try self.row(id) == row { continue }
      try row.bytes.withUnsafeBytes {
        try connection.run(
          "INSERT OR REPLACE INTO photo_date(id, start, earliest, is_wide, photos) VALUES(?, ?, ?, ?, ?)",
          .integer(id), .integer(row.start), .integer(row.earliest), .integer(row.isWide ? 1 : 0), .blob($0))
      }
    }
    for id in old { try connection.run("DELETE FROM photo_date WHERE id = ?", .integer(id)) }
  }

  private func row(_ id: Int64) throws -> DateRow? {
    try connection.first(
      "SELECT start, earliest, is_wide, photos FROM photo_date WHERE id = ?", .integer(id)
    ) { Self.read($0) }
  }

  func remove(_ version: ShardVersion) throws {
    try connection.run(
      "DELETE FROM photo_date WHERE id BETWEEN ? AND ?", .integer(version.blocks.lowerBound),
      .integer(version.blocks.upperBound))
  }

  /// Whether a version's rows are those of its photos.
  func isComplete(_ version: ShardVersion, _ entries: [ShardContent.Entry]) throws -> Bool {
    var expected = DateRow.rows(of: entries)[...]
    var isComplete = true
    try connection.each(
      "SELECT start, earliest, is_wide, photos, id FROM photo_date WHERE id BETWEEN ? AND ? ORDER BY id",
      .integer(version.blocks.lowerBound), .integer(version.blocks.upperBound)
    ) { row in
      let found = Self.read(row)
      if expected.popFirst() != found || found.bucket != row.anyInteger(4) - version.blocks.lowerBound {
        isComplete = false
      }
    }
    return isComplete && expected.isEmpty
  }

  /// - Parameter row: a statement whose columns begin with start, earliest, is_wide, photos
  fileprivate static func read(_ row: Statement) -> DateRow {
    DateRow(
      start: row.anyInteger(0), earliest: row.anyInteger(1), isWide: row.flag(2), bytes: Array(row.bytes(3)))
  }
}

/// Reads the photos of a version in the order by date, one row in memory at a time. Missing rows are damage.
final class DateReader {
  private let connection: Connection
  private let version: ShardVersion
  private let shard: Shard.Index
  private var row: DateRow?
  private var id: Int64 = 0
  /// The index of the next photo, forwards, in `row`.
  private var index = 0

  /// Begins before the first photo that is not before a bound.
  init(_ connection: Connection, _ version: ShardVersion, shard: Shard.Index, at bound: DateEntry) throws {
    (self.connection, self.version, self.shard) = (connection, version, shard)
    guard version.photos > 0 else { return }
    if try load(first: version.blocks.lowerBound | DateRow.bucket(of: bound.date)) {
      index = row?.index(of: bound, of: shard) ?? 0
      // Where the bound is before the row, the row before has to end there.
      if index == 0, let current = row, current.start > 0 {
        _ = try previous()
        index += 1
      }
    } else if try load(last: version.blocks.upperBound) {
      index = row?.count ?? 0
    } else {
      throw damage()
    }
    try moveToNextRowIfNeeded()
  }

  /// The number of photos before the next one.
  var position: Int64 { row.map { $0.start + Int64(index) } ?? 0 }

  /// Returns the next photo; nil after the last.
  func next() throws -> DateEntry? {
    guard let row, index < row.count else { return nil }
    guard let entry = row.entry(index, of: shard) else { throw damage() }
    index += 1
    try moveToNextRowIfNeeded()
    return entry
  }

  /// Returns the photo before the next one, and moves before it; nil before the first.
  func previous() throws -> DateEntry? {
    guard let current = row else { return nil }
    if index == 0 {
      if current.start == 0 { return nil }
      guard try load(last: id - 1), let row, row.start + Int64(row.count) == current.start else {
        throw damage()
      }
      index = row.count
    }
    index -= 1
    guard let entry = row?.entry(index, of: shard) else { throw damage() }
    return entry
  }

  /// Moves to the next row after the last photo of the current one.
  private func moveToNextRowIfNeeded() throws {
    guard let current = row, index >= current.count else { return }
    let end = current.start + Int64(current.count)
    if end == version.photos { return }
    guard try load(first: id + 1), row?.start == end else { throw damage() }
    index = 0
  }

  private func load(last bucket: Int64) throws -> Bool {
    try connection.first(
      """
      SELECT start, earliest, is_wide, photos, id FROM photo_date WHERE id BETWEEN ? AND ?
      ORDER BY id DESC LIMIT 1
      """, .integer(version.blocks.lowerBound), .integer(bucket)
    ) { try read($0) } ?? false
  }

  private func load(first bucket: Int64) throws -> Bool {
    try connection.first(
      """
      SELECT start, earliest, is_wide, photos, id FROM photo_date WHERE id BETWEEN ? AND ?
      ORDER BY id LIMIT 1
      """, .integer(bucket), .integer(version.blocks.upperBound)
    ) { try read($0) } ?? false
  }

  private func read(_ row: Statement) throws -> Bool {
    let found = DateTable.read(row)
    id = row.anyInteger(4)
    guard found.isValid(in: version.photos), found.bucket == id - version.blocks.lowerBound else {
      throw damage()
    }
    self.row = found
    return true
  }

  private func damage() -> SatchelError {
    SatchelError(.damaged, "photo_date: the dates of shard \(shard) are not those of its photos")
  }
}
