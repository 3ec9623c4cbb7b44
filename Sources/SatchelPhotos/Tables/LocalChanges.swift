import SatchelStorage

/// Compares what a shard holds with what was agreed.
enum LocalChanges {
  /// Everything that changed, in the order of md5.
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

  /// Visits changes of photos in a range, in the order of md5, until `visit` says that it is enough.
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
    // Lines of the base that are also in the ancestor are no changes; all others are, unless changed again.
    let base = try LevelReader(connection, record.base, shard: record.shard)
    let ancestor = try LevelReader(connection, record.ancestor, shard: record.shard, role: .ancestor)
    var (ours, agreed) = (try base.next(), try ancestor.next())
    while let md5 = [ours?.md5, agreed?.md5, overlay.current?.md5].compactMap({ $0 }).min() {
      let (local, before) = (ours?.md5 == md5 ? ours?.line : nil, agreed?.md5 == md5 ? agreed?.line : nil)
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
      if agreed?.md5 == md5 { agreed = try ancestor.next() }
    }
  }

  private static func change(_ row: OverlayTable.Row, base: [UInt8]?) -> LocalChange {
    LocalChange(
      md5: row.md5, sequence: row.sequence, photodate: row.photodate, local: row.line.map(Array.init),
      base: base)
  }

  private static func photodate(_ line: UnsafeRawBufferPointer?, _ shard: Shard.Index) throws -> Int64 {
    guard let line, let photo = ShardReader.photo(in: line, shard: shard) else {
      throw SatchelError(.damaged, "shard \(shard): a line is no row of it")
    }
    return photo.photodate
  }
}
