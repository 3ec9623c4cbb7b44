import SatchelCore
import SatchelStorage

/// The conflict log, in the table `photo_conflict`: local changes that were overwritten.
struct ConflictTable {
  let connection: Connection
  let catalogue: Int64

  func add(
    _ change: LocalChange, local: UnsafeRawBufferPointer?, remote: UnsafeRawBufferPointer?,
    cause: PhotoConflict.Cause, time: Int64
  ) throws {
    func blob(_ line: UnsafeRawBufferPointer?) -> Binding { line.map { .blob($0) } ?? .null }
    try change.md5.withBytes { md5 in
      try Self.withBytes(of: change.base) { base in
        try connection.run(
          """
          INSERT INTO photo_conflict(catalogue, md5, time, cause, local, remote, base)
          VALUES(?, ?, ?, ?, ?, ?, ?)
          """, .integer(catalogue), .blob(md5), .integer(time), .text(cause.rawValue), blob(local),
          blob(remote),
          blob(base))
      }
    }
  }

  /// Returns conflicts after one, oldest first.
  func rows(after id: Int64, limit: Int64) throws -> [PhotoConflict] {
    var rows: [PhotoConflict] = []
    try connection.each(
      """
      SELECT id, md5, time, cause, local, remote, base FROM photo_conflict
      WHERE catalogue = ? AND id > ? ORDER BY id LIMIT ?
      """, .integer(catalogue), .integer(id), .integer(limit)
    ) { row in
      let conflict = try Self.read(row)
      try RowOrder.check(conflict.id, after: rows.last?.id ?? id, of: "photo_conflict")
      rows.append(conflict)
    }
    return rows
  }

  func row(_ id: Int64) throws -> PhotoConflict? {
    try connection.first(
      """
      SELECT id, md5, time, cause, local, remote, base FROM photo_conflict WHERE catalogue = ? AND id = ?
      """, .integer(catalogue), .integer(id)
    ) { try Self.read($0) }
  }

  /// Returns the id after one; nil after the last.
  func next(after id: Int64) throws -> Int64? {
    try connection.first(
      "SELECT id FROM photo_conflict WHERE catalogue = ? AND id > ? ORDER BY id LIMIT 1", .integer(catalogue),
      .integer(id)
    ) { try $0.integer(0) }
  }

  func remove(_ id: Int64) throws {
    try connection.run(
      "DELETE FROM photo_conflict WHERE catalogue = ? AND id = ?", .integer(catalogue), .integer(id))
  }

  func count() throws -> Int64 {
    try connection.number("SELECT count(*) FROM photo_conflict WHERE catalogue = ?", .integer(catalogue))
  }

  private static func read(_ row: Statement) throws -> PhotoConflict {
    let id = try row.integer(0)
    guard let md5 = MD5(row: row.bytes(1)), let cause = PhotoConflict.Cause(rawValue: row.text(3)) else {
      throw SatchelError(.damaged, "photo_conflict: conflict \(id) cannot be read")
    }
    func photo(_ column: Int32) throws -> Photo? {
      row.isNull(column) ? nil : try PhotoLookup.parse(row.bytes(column), md5)
    }
    return PhotoConflict(
      id: id, md5: md5, time: try row.integer(2), cause: cause, local: try photo(4), remote: try photo(5),
      base: try photo(6))
  }

  private static func withBytes<Result>(
    of line: [UInt8]?, _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    guard let line else { return try body(nil) }
    return try line.withUnsafeBytes { try body($0) }
  }
}
