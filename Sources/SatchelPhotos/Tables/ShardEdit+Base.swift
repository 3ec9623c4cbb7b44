import SatchelStorage

extension ShardEdit {
  /// Where a file goes.
  enum Target {
    case base, ancestor
  }

  /// Makes a level hold a file's content. Where a level of this place may go, only blocks that differ are written.
  mutating func write(_ file: ShardFile, to target: Target) throws {
    let old = target == .base ? record.base : record.ancestor
    let level = try replace(old, with: file)
    switch target {
    case .base: record.base = level
    case .ancestor: record.ancestor = level
    }
  }

  /// A level with the file's content, in place of one that nobody needs any more.
  private func replace(_ old: ShardLevel, with file: ShardFile) throws -> ShardLevel {
    if old.id != 0, old.checksum == file.checksum { return old }
    var level = ShardLevel(
      id: old.id, checksum: file.checksum, photos: Int64(file.entries.count), kept: Int64(file.kept.count),
      bytes: Int64(file.bytes.count))
    if old.id != 0, old.kept == 0, level.kept == 0, level.photos > 0, try blocks.replace(old, with: file) {
      return try shards.put(level)
    }
    try shards.remove(old)
    guard level.bytes > 0 else { return .empty }
    level.id = 0
    level = try shards.put(level)
    try blocks.write(file, level: level.id)
    return level
  }

  /// A file of this side replaces the base; what was agreed stays as the ancestor. The overlay is another matter.
  mutating func importBase(_ file: ShardFile, sequence: Int64) throws {
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

  /// The base becomes what was agreed with the master.
  mutating func agreeBase(_ file: ShardFile) throws {
    if record.isImported {
      // Of the two levels, the one that the master had is nearer to what it has now.
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

  /// Nothing is agreed any more: all that is here is this side's.
  mutating func unlink() throws {
    try forgetIntent()
    if record.isImported { try shards.remove(record.ancestor) }
    record.ancestor = .empty
    record.isImported = record.base.id != 0
    (record.agreed, record.etag, record.lineage) = (nil, nil, nil)
  }
}
