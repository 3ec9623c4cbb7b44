import SatchelRemote
import SatchelStorage

extension ShardEdit {
  /// Bytes of this side are in the master: they become the base, what was changed later stays on top.
  ///
  /// - Parameter sequence: the last change that the bytes hold
  mutating func settle(_ file: ShardFile, upTo sequence: Int64) throws {
    if record.importedSequence > sequence {
      // The file that replaced the base came later: the bytes are only what it differs from.
      record.isImported = true
      try write(file, to: .ancestor)
      if record.base.checksum == record.ancestor.checksum {
        try shards.remove(record.base)
        record.base = record.ancestor
        record.ancestor = .empty
        record.isImported = false
      }
      return
    }
    let later = try overlayChanges().filter { $0.sequence > sequence }
    try clearOverlay()
    try agreeBase(file)
    try fillOverlay(later, over: file)
  }

  /// The master's bytes become the base; what is left of the changes is decided by policy.
  ///
  /// - Returns: how many changes went to the conflict log
  mutating func take(_ file: ShardFile, settledUpTo sequence: Int64, policy: SyncPolicy) throws -> Int {
    let changes = try localChanges(after: sequence)
    try clearOverlay()
    try agreeBase(file)
    switch policy {
    case .remoteWins: return try logConflicts(changes, against: file, cause: .sync)
    case .mergeRows:
      try fillOverlay(changes, over: file)
      return 0
    }
  }

  /// The photos that are here, in the order of md5.
  func photos() throws -> [MD5] {
    var photos: [MD5] = []
    let base = try LevelReader(connection, record.base, shard: shard)
    let overlay = try OverlayReader(
      connection, catalogue: catalogue, in: MD5.bounds(of: shard), isEmpty: record.changes == 0)
    func addChange() throws {
      if let change = overlay.current, change.line != nil { photos.append(change.md5) }
      try overlay.advance()
    }
    while let row = try base.next() {
      while let change = overlay.current, change.md5 < row.md5 { try addChange() }
      if overlay.current?.md5 == row.md5 { try addChange() } else { photos.append(row.md5) }
    }
    while overlay.current != nil { try addChange() }
    return photos
  }

  /// How many of the photos that were here are no more, now that a file is the base.
  func removed(from before: [MD5], by file: ShardFile) throws -> Int64 {
    let gone = before.filter { file.line(of: $0) == nil }
    guard !gone.isEmpty, record.changes > 0 else { return Int64(gone.count) }
    let now = Set(try photos())
    return Int64(gone.count { !now.contains($0) })
  }

  /// Rows last synced that a file lacks, or has otherwise, but for those that were changed here: as if they had been
  /// changes of this side, so that they can be put back.
  func rowsLost(to file: ShardFile) throws -> [LocalChange] {
    let changed = Set(try localChanges().map(\.md5))
    var lost: [LocalChange] = []
    let synced = try LevelReader(connection, record.agreedLevel, shard: shard)
    while let row = try synced.next() {
      if changed.contains(row.md5) || Self.isSame(row.line, file.line(of: row.md5)) { continue }
      let line = Array(row.line)
      lost.append(LocalChange(md5: row.md5, sequence: 0, photodate: 0, local: line, base: line))
    }
    return lost
  }

  /// Lines that are no photos, and stand nowhere but in a file that was imported here since the last agreement: no
  /// policy can put them on top of the master's bytes.
  ///
  /// - Parameters:
  ///   - file: the master's
  ///   - sequence: what was imported up to this change is in the master, or was
  func keptLines(missingIn file: ShardFile, after sequence: Int64) throws -> [RejectedRow] {
    guard record.isImported, record.importedSequence > sequence, record.base.kept > 0 else { return [] }
    var known: [[UInt8]: Int] = [:]
    for range in file.kept { known[Array(file.bytes[within: file.place(range)]), default: 0] += 1 }
    var agreed: [[UInt8]: Int] = [:]
    for row in try keptLines(of: record.ancestor) { agreed[row.raw, default: 0] += 1 }
    known.merge(agreed, uniquingKeysWith: max)
    return try keptLines(of: record.base).compactMap { row in
      if let left = known[row.raw], left > 0 {
        known[row.raw] = left - 1
        return nil
      }
      return RejectedRow(line: row.line, fault: .replaced, raw: row.raw)
    }
  }

  private func keptLines(of level: ShardLevel) throws -> [RejectedRow] {
    guard level.kept > 0 else { return [] }
    var plain = ShardRecord(shard: shard)
    plain.base = level
    let bytes = try ShardMerge.bytes(connection, catalogue: catalogue, record: plain)
    return try bytes.withUnsafeBytes { try ShardContent($0, shard: shard).rejected }
  }

  /// The master has what is here.
  ///
  /// - Throws: `.busy` when neither what is here nor what was agreed is that
  mutating func settleSame(_ checksum: String) throws {
    try forgetIntent()
    if record.hasChanges {
      let merged = try ShardMerge.bytes(connection, catalogue: catalogue, record: record)
      if Shard.checksum(merged) == checksum {
        try merged.withUnsafeBytes { bytes in
          let file = try ShardFile(bytes, shard: shard)
          try withExtendedLifetime(file) {
            try clearOverlay()
            try agreeBase(file)
          }
        }
        return
      }
    }
    if record.isImported, record.base.checksum == checksum {
      try shards.remove(record.ancestor)
      record.ancestor = .empty
      record.isImported = false
    }
    guard record.agreed == checksum || record.agreedLevel.checksum == checksum else {
      throw SatchelError(.busy, "shard \(shard) is not what it was when both sides were compared")
    }
  }

  /// Notes what the master has.
  mutating func agree(on checksum: String, etag: ETag?, lineage: String?) throws {
    try forgetIntent()
    record.agreed = checksum
    record.etag = etag?.text
    record.lineage = lineage
  }

  /// No upload is under way any more: changes that change nothing go, which were kept only for its sake.
  mutating func forgetIntent() throws {
    guard record.intent != nil else { return }
    record.intent = nil
    let changes = try overlayChanges()
    guard changes.contains(where: { $0.local == $0.base }) else { return }
    for change in changes where change.local == change.base {
      try overlay.remove(change.md5)
      change.withLocal { line in
        let row = OverlayTable.Row(
          md5: change.md5, sequence: change.sequence, photodate: change.photodate,
          isInBase: change.base != nil, line: line)
        count(row, -1)
      }
    }
  }

  /// The overlay's changes, against the base. Memory: two lines a change.
  func overlayChanges() throws -> [LocalChange] {
    guard record.changes > 0 else { return [] }
    var plain = record
    plain.isImported = false
    return try LocalChanges.all(connection, catalogue: catalogue, record: plain)
  }

  /// Keeps the changes that lost.
  ///
  /// - Returns: how many did
  func logConflicts(_ changes: [LocalChange], against file: ShardFile, cause: PhotoConflict.Cause) throws
    -> Int
  {
    let table = ConflictTable(connection: connection, catalogue: catalogue)
    var count = 0
    for change in changes {
      let remote = file.line(of: change.md5)
      try change.withLocal { local in
        if Self.isSame(local, remote) { return }
        try table.add(change, local: local, remote: remote, cause: cause, time: transaction.now)
        count += 1
      }
    }
    return count
  }
}
