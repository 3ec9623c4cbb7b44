import SatchelStorage

/// Changes one shard inside a transaction. Rows, counters and flags change here and nowhere else.
struct ShardEdit {
  let transaction: Transaction
  let catalogue: Int64
  var record: ShardRecord

  var connection: Connection { transaction.connection }
  var shard: Shard.Index { record.shard }
  var shards: ShardTable { ShardTable(connection: connection, catalogue: catalogue) }
  var overlay: OverlayTable { OverlayTable(connection: connection, catalogue: catalogue) }
  var blocks: BlockTable { BlockTable(connection: connection, shard: shard) }

  init(_ transaction: Transaction, catalogue: Int64, shard: Shard.Index) throws {
    self.transaction = transaction
    self.catalogue = catalogue
    record = try ShardTable(connection: transaction.connection, catalogue: catalogue).record(shard)
  }

  /// Writes what changed of the shard's own row.
  func save() throws { try shards.put(record) }

  // MARK: Changes

  /// A photo's new line, or its deletion.
  ///
  /// A change that makes the photo what it is in the base takes the earlier change away. Not while an upload is
  /// noted: then the base may be about to become what was uploaded.
  ///
  /// - Parameters:
  ///   - line: as it is written; nil to delete
  ///   - base: its line in the base, nil when that has none
  /// - Returns: whether anything changed
  mutating func set(
    _ md5: MD5, line: UnsafeRawBufferPointer?, photodate: Int64, base: UnsafeRawBufferPointer?,
    sequence: Int64
  ) throws -> Bool {
    var old: OverlayTable.Row?
    var isSame = Self.isSame(line, base)
    if record.changes > 0 {
      old = try overlay.row(md5) { row in
        isSame = Self.isSame(line, row.line)
        return row
      }
    }
    if isSame { return false }
    if let old { count(old, -1) }
    if old != nil, record.intent == nil, Self.isSame(line, base) {
      try overlay.remove(md5)
    } else {
      let row = OverlayTable.Row(
        md5: md5, sequence: sequence, photodate: photodate, isInBase: base != nil, line: line)
      try overlay.put(row)
      count(row, 1)
    }
    record.sequence = sequence
    return true
  }

  /// Adds a change to the counters, or takes it away. Looks at whether it has a line, not at the line.
  mutating func count(_ row: OverlayTable.Row, _ difference: Int64) {
    record.changes += difference
    if !row.isInBase, row.line != nil { record.added += difference }
    if row.isInBase, row.line == nil { record.removed += difference }
  }

  mutating func clearOverlay() throws {
    if record.changes > 0 { try overlay.removeAll(of: shard) }
    (record.changes, record.added, record.removed) = (0, 0, 0)
  }

  /// Puts changes into an empty overlay, leaving out those that change nothing of a file that becomes the base.
  mutating func fillOverlay(_ changes: [LocalChange], over file: ShardFile) throws {
    for change in changes {
      let base = file.line(of: change.md5)
      try change.withLocal { line in
        if Self.isSame(line, base) { return }
        let row = OverlayTable.Row(
          md5: change.md5, sequence: change.sequence, photodate: change.photodate, isInBase: base != nil,
          line: line)
        try overlay.put(row)
        count(row, 1)
      }
    }
  }

  static func isSame(_ one: UnsafeRawBufferPointer?, _ other: UnsafeRawBufferPointer?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return one.elementsEqualInMemory(other)
  }
}
