import SatchelCore
import SatchelStorage

/// The table `photo_kept`: lines of a shard that are no photos, and how often they are in it.
struct KeptTable {
  struct Copies: Equatable {
    /// How often the line is in the shard.
    var local: Int64 = 0
    /// How often it was in the version synchronized last.
    var synced: Int64 = 0

    /// Merges the line with the remote's. What only this device added stays.
    mutating func merge(remote: Int64) {
      if remote != synced { local = local == synced ? remote : max(local, remote) }
      synced = remote
    }
  }

  /// A line before and after a change.
  struct Change {
    var line: [UInt8]
    var before = Copies()
    var after = Copies()
  }

  let connection: Connection
  let catalogue: Int64
  let shard: Shard.Index

  /// Returns all lines, in the order in which they are written.
  func all() throws -> [(line: [UInt8], copies: Copies)] {
    var lines: [(line: [UInt8], copies: Copies)] = []
    var total: Int64 = 0
    try connection.each(
      "SELECT line, copies, synced_copies FROM photo_kept WHERE catalogue = ? AND shard = ? ORDER BY line",
      .integer(catalogue), .integer(Int64(shard.number))
    ) { row in
      let copies = Copies(
        local: try row.integer(1, in: Self.range), synced: try row.integer(2, in: Self.range))
      total += max(copies.local, copies.synced)
      guard total <= 2 * Int64(ShardContent.maxRejected) else {
        throw SatchelError(.damaged, "photo_kept: shard \(shard) has more than \(total) lines")
      }
      lines.append((Array(row.bytes(0)), copies))
    }
    return lines
  }

  static var range: ClosedRange<Int64> { 0...Int64(ShardContent.maxRejected) }

  /// Returns the lines of the shard and of a file, as `change` makes them; writes nothing.
  ///
  /// - Parameter change: called with the number of the line's copies in the file
  func changes(by file: ShardFile, _ change: (inout Change, Int64) -> Void) throws -> [Change] {
    var theirs: [[UInt8]: Int64] = [:]
    for range in file.kept { theirs[Array(file.bytes[within: file.offsets(range)]), default: 0] += 1 }
    let lines = try all()
    if lines.isEmpty, theirs.isEmpty { return [] }
    var changes = lines.map { Change(line: $0.line, before: $0.copies, after: $0.copies) }
    for index in changes.indices {
      change(&changes[index], theirs.removeValue(forKey: changes[index].line) ?? 0)
    }
    for (line, count) in theirs {
      var new = Change(line: line)
      change(&new, count)
      changes.append(new)
    }
    return changes
  }

  func write(_ changes: [Change]) throws {
    for change in changes where change.before != change.after { try put(change.line, change.after) }
  }

  /// Makes all lines ones that were never synchronized.
  func detach() throws {
    try connection.run(
      "DELETE FROM photo_kept WHERE catalogue = ? AND shard = ? AND copies = 0", .integer(catalogue),
      .integer(Int64(shard.number)))
    try connection.run(
      "UPDATE photo_kept SET synced_copies = 0 WHERE catalogue = ? AND shard = ?", .integer(catalogue),
      .integer(Int64(shard.number)))
  }

  /// Returns the number of lines, and how many differ from the version synchronized last.
  func counts() throws -> (kept: Int64, changes: Int64) {
    try connection.first(
      """
      SELECT coalesce(sum(copies), 0), coalesce(sum(copies <> synced_copies), 0) FROM photo_kept
      WHERE catalogue = ? AND shard = ?
      """, .integer(catalogue), .integer(Int64(shard.number))
    ) { (try $0.integer(0), try $0.integer(1)) } ?? (0, 0)
  }

  private func put(_ line: [UInt8], _ copies: Copies) throws {
    try line.withUnsafeBytes { line in
      if copies == Copies() {
        return try connection.run(
          "DELETE FROM photo_kept WHERE catalogue = ? AND shard = ? AND line = ?", .integer(catalogue),
          .integer(Int64(shard.number)), .blob(line))
      }
      try connection.run(
        "INSERT OR REPLACE INTO photo_kept(catalogue, shard, line, copies, synced_copies) VALUES(?, ?, ?, ?, ?)",
        .integer(catalogue), .integer(Int64(shard.number)), .blob(line), .integer(copies.local),
        .integer(copies.synced))
    }
  }
}
