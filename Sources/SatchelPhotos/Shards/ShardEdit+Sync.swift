import SatchelCore
import SatchelDocuments
import SatchelRemote
import SatchelSync
import SatchelStorage

extension ShardEdit {
  /// Makes uploaded bytes the base, and keeps later changes on top.
  ///
  /// - Parameter sequence: the last change that the bytes contain
  mutating func confirmUpload(_ file: ShardFile, upTo sequence: Int64) throws {
    if record.importedSequence > sequence {
      // The file that replaced the base was imported later: the uploaded bytes become the ancestor that it
      // differs from.
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
    try replaceBase(file)
    try fillOverlay(later, over: file)
  }

  /// Makes the remote's bytes the base, and merges the remaining local changes row by row.
  ///
  /// - Parameters:
  ///   - sequence: changes up to this one are in the bytes, or in what they were built on; nil for none
  ///   - onConflict: the policy for photos that both sides changed. Before the first sync there is no base that a
  ///     change could have lost against, and both sides' photos stay.
  /// - Returns: how many changes went to the conflict log
  mutating func applyRemote(_ file: ShardFile, confirmedUpTo sequence: Int64?, onConflict: ConflictPolicy)
    throws -> Int
  {
    let changes = try localChanges(after: sequence ?? -1)
    let merge = RemoteMerge(record, file, confirmedUpTo: sequence, onConflict: onConflict)
    record.modified = transaction.now
    try clearOverlay()
    try replaceBase(file)
    var (kept, lost) = ([LocalChange](), [LocalChange]())
    for change in changes {
      let decision = merge.decision(change)
      if decision.conflict != nil { lost.append(change) }
      if decision.base != .delete { kept.append(change) }
    }
    try fillOverlay(kept, over: file)
    return try logConflicts(lost, against: file, cause: .sync)
  }

  /// Adds rejected lines that only this device has to the remote's, as a file imported locally.
  ///
  /// - Returns: false when that would change the remote's rows, as a line with an open quote does that takes the rows
  ///   after it, or when there would be too many
  mutating func addKept(_ lines: [RejectedRow], to file: ShardFile) throws -> Bool {
    var bytes = Array(file.bytes)
    for line in lines {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
      bytes += line.raw
    }
    return try bytes.withUnsafeBytes { bytes in
      guard let merged = try? ShardFile(bytes, shard: shard) else { return false }
      return try withExtendedLifetime(merged) {
        guard merged.entries.map(\.md5) == file.entries.map(\.md5),
          merged.entries.allSatisfy({ Self.isSame(merged.line($0), file.line(of: $0.md5)) })
        else { return false }
        try importBase(merged, sequence: max(record.importedSequence, record.sequence))
        return true
      }
    }
  }

  /// Returns the MD5s of the local photos, in order.
  func photos() throws -> [MD5] {
    var photos: [MD5] = []
    let base = try ShardVersionReader(connection, record.base, shard: shard)
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

  /// Returns how many of the photos before no longer exist, now that a file is the base.
  func removed(from before: [MD5], by file: ShardFile) throws -> Int64 {
    let gone = before.filter { file.line(of: $0) == nil }
    guard !gone.isEmpty, record.changes > 0 else { return Int64(gone.count) }
    let now = Set(try photos())
    return Int64(gone.count { !now.contains($0) })
  }

  /// Returns the rows of the version synchronized last that a file lacks or has differently, without those
  /// changed locally. They have the form of local changes, so that they can be reapplied.
  func rowsLost(to file: ShardFile) throws -> [LocalChange] {
    let changed = Set(try localChanges().map(\.md5))
    var lost: [LocalChange] = []
    let synced = try ShardVersionReader(connection, record.syncedVersion, shard: shard)
    while let row = try synced.next() {
      if changed.contains(row.md5) || Self.isSame(row.line, file.line(of: row.md5)) { continue }
      let line = Array(row.line)
      lost.append(LocalChange(md5: row.md5, sequence: 0, photodate: 0, local: line, base: line))
    }
    return lost
  }

  /// Returns the rejected lines that exist only in a file that was imported locally since the last sync. After a
  /// first meeting they stay; later no policy can keep them on top of the remote's bytes.
  ///
  /// - Parameters:
  ///   - file: the remote's file
  ///   - sequence: imports up to this change are, or were, in the remote
  func keptLines(missingIn file: ShardFile, after sequence: Int64) throws -> [RejectedRow] {
    guard record.isImported, record.importedSequence > sequence, record.base.kept > 0 else { return [] }
    var known: [[UInt8]: Int] = [:]
    for range in file.kept { known[Array(file.bytes[within: file.offsets(range)]), default: 0] += 1 }
    var synced: [[UInt8]: Int] = [:]
    for row in try keptLines(of: record.ancestor) { synced[row.raw, default: 0] += 1 }
    known.merge(synced, uniquingKeysWith: max)
    return try keptLines(of: record.base).compactMap { row in
      if let left = known[row.raw], left > 0 {
        known[row.raw] = left - 1
        return nil
      }
      return RejectedRow(line: row.line, fault: .replaced, raw: row.raw)
    }
  }

  private func keptLines(of version: ShardVersion) throws -> [RejectedRow] {
    guard version.kept > 0 else { return [] }
    var plain = ShardRecord(shard: shard)
    plain.base = version
    let bytes = try ShardMerge.bytes(connection, catalogue: catalogue, record: plain)
    return try bytes.withUnsafeBytes { try ShardContent($0, shard: shard).rejected }
  }

  /// Records that the remote has the local content.
  ///
  /// - Throws: `.busy` when neither the local content nor the version synchronized last has this checksum
  mutating func confirmIdentical(_ checksum: String) throws {
    try clearPendingUpload()
    if record.hasChanges {
      let merged = try ShardMerge.bytes(connection, catalogue: catalogue, record: record)
      if Shard.checksum(merged) == checksum {
        try merged.withUnsafeBytes { bytes in
          let file = try ShardFile(bytes, shard: shard)
          try withExtendedLifetime(file) {
            try clearOverlay()
            try replaceBase(file)
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
    guard record.syncedChecksum == checksum || record.syncedVersion.checksum == checksum else {
      throw SatchelError(.busy, "shard \(shard) has changed since both sides were compared")
    }
  }

  /// Records the version in the remote.
  mutating func setSynced(_ checksum: String, etag: ETag?, ancestors: String?) throws {
    try clearPendingUpload()
    record.syncedChecksum = checksum
    record.etag = etag?.text
    record.ancestors = ancestors
    record.synced = transaction.now
  }

  /// Deletes the pending upload, and the changes without effect that were kept only for it.
  mutating func clearPendingUpload() throws {
    guard record.pendingUpload != nil else { return }
    record.pendingUpload = nil
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

  /// Returns the overlay's changes, relative to the base. Memory: two lines a change.
  func overlayChanges() throws -> [LocalChange] {
    guard record.changes > 0 else { return [] }
    var plain = record
    plain.isImported = false
    return try LocalChanges.all(connection, catalogue: catalogue, record: plain)
  }

  /// Writes the changes that lost to the conflict log.
  ///
  /// - Returns: how many were written
  func logConflicts(_ changes: [LocalChange], against file: ShardFile, cause: ConflictEntry.Cause) throws
    -> Int
  {
    let log = ConflictLog(connection)
    var count = 0
    for change in changes {
      let remote = file.line(of: change.md5)
      try change.withLocal { local in
        if Self.isSame(local, remote) { return }
        var row = ConflictLog.Row(
          ConflictLog.Owner(.photos, catalogue), change.md5.description, time: transaction.now)
        (row.side, row.cause) = (.local, cause)
        (row.local, row.remote, row.base) = (local.map { Array($0) }, remote.map { Array($0) }, change.base)
        try log.add(row)
        count += 1
      }
    }
    return count
  }
}
