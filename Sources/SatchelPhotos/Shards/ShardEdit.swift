import SatchelCore
import SatchelStorage

/// Changes one shard inside a transaction. All writes of rows, counters and flags go through it.
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

  /// Writes the shard's own row.
  func save() throws { try shards.put(record) }

  // MARK: Changes

  /// Sets a photo's line, or deletes the photo.
  ///
  /// A change that restores the line of the base removes the earlier change, except while an upload is
  /// pending: then the uploaded bytes may be about to become the base.
  ///
  /// - Parameters:
  ///   - line: the row as it is written; nil to delete
  ///   - base: the line in the base, nil when the base has none
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
    if old != nil, record.pendingUpload == nil, Self.isSame(line, base) {
      try overlay.remove(md5)
    } else {
      let row = OverlayTable.Row(
        md5: md5, sequence: sequence, photodate: photodate, isInBase: base != nil, line: line)
      try overlay.put(row)
      count(row, 1)
    }
    record.sequence = sequence
    record.modified = transaction.now
    return true
  }

  /// Adds a change to the counters, or subtracts it. Reads whether there is a line, never the line's bytes.
  mutating func count(_ row: OverlayTable.Row, _ difference: Int64) {
    record.changes += difference
    if !row.isInBase, row.line != nil { record.added += difference }
    if row.isInBase, row.line == nil { record.removed += difference }
  }

  mutating func clearOverlay() throws {
    if record.changes > 0 { try overlay.removeAll(of: shard) }
    (record.changes, record.added, record.removed) = (0, 0, 0)
  }

  /// Writes changes into an empty overlay, without those that change nothing relative to the file that
  /// becomes the base.
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

extension ShardEdit {
  /// The version of the shard that a file replaces.
  enum Target {
    case base, ancestor
  }

  /// Replaces a version's content with a file. Where an old version can be updated, only blocks that differ
  /// are written.
  mutating func write(_ file: ShardFile, to target: Target) throws {
    let old = target == .base ? record.base : record.ancestor
    let version = try replace(old, with: file)
    switch target {
    case .base: record.base = version
    case .ancestor: record.ancestor = version
    }
  }

  /// Returns a version with the file's content, in place of one that is no longer needed.
  private func replace(_ old: ShardVersion, with file: ShardFile) throws -> ShardVersion {
    if old.id != 0, old.checksum == file.checksum { return old }
    var version = ShardVersion(
      id: old.id, checksum: file.checksum, photos: Int64(file.entries.count), kept: Int64(file.kept.count),
      bytes: Int64(file.bytes.count))
    if old.id != 0, old.kept == 0, version.kept == 0, version.photos > 0, try blocks.replace(old, with: file)
    {
      return try shards.put(version)
    }
    try shards.remove(old)
    guard version.bytes > 0 else { return .empty }
    version.id = 0
    version = try shards.put(version)
    try blocks.write(file, version: version.id)
    return version
  }

  /// Replaces the base with a local file; the version synchronized last stays as the ancestor. The overlay is
  /// untouched.
  mutating func importBase(_ file: ShardFile, sequence: Int64) throws {
    if file.checksum != record.base.checksum { record.modified = transaction.now }
    if record.isImported {
      if file.checksum == record.ancestor.checksum {
        try shards.remove(record.base)
        record.base = record.ancestor
        record.ancestor = .empty
        record.isImported = false
      } else {
        try write(file, to: .base)
      }
    } else if file.checksum != record.base.checksum {
      record.ancestor = record.base
      record.base = .empty
      record.isImported = true
      try write(file, to: .base)
    }
    record.source = file.rejected.isEmpty ? file.source : nil
    record.importedSequence = sequence
    record.sequence = sequence
  }

  /// Makes a file the base and the version synchronized last.
  mutating func replaceBase(_ file: ShardFile) throws {
    if record.isImported {
      // Of the two versions, the one that the remote had differs less from what it has now.
      let (kept, dropped) =
        record.base.checksum == file.checksum || record.ancestor.id == 0
        ? (record.base, record.ancestor) : (record.ancestor, record.base)
      try shards.remove(dropped)
      record.base = kept
      record.ancestor = .empty
      record.isImported = false
    }
    try write(file, to: .base)
    record.source = file.rejected.isEmpty ? file.source : nil
  }

  /// Deletes the version synchronized last: all content becomes a local change.
  mutating func detach() throws {
    try clearPendingUpload()
    if record.isImported { try shards.remove(record.ancestor) }
    record.ancestor = .empty
    record.isImported = record.base.id != 0
    (record.syncedChecksum, record.etag, record.ancestors, record.synced) = (nil, nil, nil, nil)
  }
}
