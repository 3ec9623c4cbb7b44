import SatchelCore
import SatchelStorage

/// A local change of a photo since the last sync.
struct LocalChange {
  var md5: MD5
  /// The number of the change; 0 for one that an imported file made.
  var sequence: Int64
  var photodate: Int64
  /// The local line; nil when the photo was deleted.
  var local: [UInt8]?
  /// The line synchronized last; nil when there was none.
  var base: [UInt8]?

  func withLocal<Result>(_ body: (UnsafeRawBufferPointer?) throws -> Result) rethrows -> Result {
    guard let local else { return try body(nil) }
    return try local.withUnsafeBytes { try body($0) }
  }
}

extension ShardEdit {
  /// Returns all local changes since the last sync, in the order of md5. Memory: two lines a change.
  ///
  /// - Parameter after: only changes with a greater number; a change by an imported file counts with the
  ///   import's number
  func localChanges(after sequence: Int64 = -1) throws -> [LocalChange] {
    try LocalChanges.all(connection, catalogue: catalogue, record: record, after: sequence)
  }
}

/// Compares a shard's content with the version synchronized last.
enum LocalChanges {
  /// Returns all local changes, in the order of md5.
  static func all(
    _ connection: Connection, catalogue: Int64, record: ShardRecord, after sequence: Int64 = -1
  ) throws -> [LocalChange] {
    var changes: [LocalChange] = []
    let bounds = MD5.bounds(of: record.shard)
    try each(connection, catalogue: catalogue, record: record, in: bounds) { change in
      if change.sequence > sequence || change.sequence == 0 && record.importedSequence > sequence {
        changes.append(change)
      }
      return true
    }
    return changes
  }

  /// Visits the changes of photos in a range, in the order of md5, until `visit` returns false.
  static func each(
    _ connection: Connection, catalogue: Int64, record: ShardRecord, in range: ClosedRange<MD5>,
    _ visit: (LocalChange) throws -> Bool
  ) throws {
    let overlay = try OverlayReader(
      connection, catalogue: catalogue, in: range, isEmpty: record.changes == 0)
    guard record.isImported else {
      let base = BlockCursor(connection, record.base, shard: record.shard)
      while let row = overlay.current {
        let line = try base.withLine(of: row.md5) { $0.map(Array.init) }
        if try !visit(change(row, base: line)) { return }
        try overlay.advance()
      }
      return
    }
    // A line of the base that is also in the ancestor is not a change; every other line is, unless the
    // overlay changes it.
    let base = try ShardVersionReader(connection, record.base, shard: record.shard)
    let ancestor = try ShardVersionReader(connection, record.ancestor, shard: record.shard, role: .ancestor)
    var (ours, synced) = (try base.next(), try ancestor.next())
    while let md5 = [ours?.md5, synced?.md5, overlay.current?.md5].compactMap({ $0 }).min() {
      let (local, before) = (ours?.md5 == md5 ? ours?.line : nil, synced?.md5 == md5 ? synced?.line : nil)
      if md5 > range.upperBound { return }
      if let row = overlay.current, row.md5 == md5 {
        if !ShardEdit.isSame(row.line, before), try !visit(change(row, base: before.map(Array.init))) {
          return
        }
        try overlay.advance()
      } else if md5 >= range.lowerBound, !ShardEdit.isSame(local, before) {
        let found = try LocalChange(
          md5: md5, sequence: 0, photodate: photodate(local ?? before, record.shard),
          local: local.map(Array.init), base: before.map(Array.init))
        if try !visit(found) { return }
      }
      if ours?.md5 == md5 { ours = try base.next() }
      if synced?.md5 == md5 { synced = try ancestor.next() }
    }
  }

  private static func change(_ row: OverlayTable.Row, base: [UInt8]?) -> LocalChange {
    LocalChange(
      md5: row.md5, sequence: row.sequence, photodate: row.photodate, local: row.line.map(Array.init),
      base: base)
  }

  private static func photodate(_ line: UnsafeRawBufferPointer?, _ shard: Shard.Index) throws -> Int64 {
    guard let line, let photo = ShardReader.photo(in: line, shard: shard) else {
      throw SatchelError(.damaged, "shard \(shard): a line is not a row of it")
    }
    return photo.photodate
  }
}
