import SatchelCore
import SatchelDocuments
import SatchelRemote
import SatchelStorage
import SatchelSync

/// Decides about a shard's photos and kept lines when the remote's bytes are applied. A value: it writes nothing.
struct RemoteMerge {
  private let rules: RowMergeRules
  private let isUnmet: Bool

  /// - Parameters:
  ///   - record: the shard before
  ///   - sequence: changes up to this one are in the bytes, or in what they were built on; nil for none
  init(
    _ record: ShardRecord, confirmedUpTo sequence: Int64?, onConflict: ConflictPolicy,
    logsLostRows: Bool = false
  ) {
    isUnmet = record.isUnmet
    rules = RowMergeRules(
      policy: isUnmet && sequence == nil ? .firstMeeting : onConflict == .merge ? .merge : .remoteWins,
      confirmedUpTo: sequence, logsLostRows: logsLostRows)
  }

  func decision(_ photo: PhotoVersions) -> RowDecision<[UInt8]> {
    if photo.base == nil, ShardEdit.isSame(photo.local, photo.remote) { return RowDecision() }
    if rules.policy == .firstMeeting, photo.local == nil, photo.base?.base.line != nil {
      // There is no version that the photo could have been deleted from.
      return RowDecision(row: photo.remote.map { .write(Array($0)) } ?? .keep, base: .delete)
    }
    // Before the first sync, photos of imported files have no base row; all are changes.
    let changed = photo.base?.base ?? (isUnmet && photo.local != nil ? BaseRow(line: nil, sequence: 0) : nil)
    return RowDecision(
      remote: photo.remote.map { Array($0) }, local: photo.local, changed: changed, rules)
  }

  /// Merges a kept line with the remote's. A line with a quote that only this device has would take rows of the remote
  /// after it, where the quote is open: it goes.
  func merge(_ line: inout KeptTable.Change, remote: Int64) {
    line.after.merge(remote: remote)
    if line.after.local > remote, line.line.contains(UInt8(ascii: "\"")) { line.after.local = remote }
  }
}

extension ShardEdit {
  /// The result of applying the remote's bytes.
  struct Applied {
    /// Changes that went to the conflict log.
    var conflicts = 0
    /// Local photos that no longer exist.
    var removed: Int64 = 0
    /// Kept lines that only this device had, and that went.
    var replaced: [RejectedRow] = []
  }

  /// Makes the local content the version synchronized last, provided that it is an export with this checksum: nothing
  /// has changed since, and no line is kept, of which exporting may have dropped some.
  ///
  /// - Returns: whether it was
  mutating func confirmExport(_ checksum: String, upTo sequence: Int64) throws -> Bool {
    guard record.sequence == sequence, record.kept == 0, record.keptChanges == 0 else { return false }
    try bases.removeAll(of: shard)
    (record.changes, record.imports, record.source) = (0, 0, checksum)
    (record.syncedPhotos, record.syncedContent) = (record.photos, checksum)
    return true
  }

  /// Makes uploaded bytes the version synchronized last, and keeps later changes on top.
  ///
  /// - Parameter sequence: the last change that the bytes contain
  mutating func confirmUpload(_ file: ShardFile, upTo sequence: Int64) throws -> Applied {
    let hasLater = record.sequence > sequence
    let lines = try kept.changes(by: file) { line, remote in
      line.after.synced = remote
      if !hasLater { line.after.local = remote }
    }
    return try apply(file, RemoteMerge(record, confirmedUpTo: sequence, onConflict: .merge), kept: lines)
  }

  /// Makes the remote's bytes the version synchronized last, and merges the local changes row by row.
  ///
  /// - Parameters:
  ///   - sequence: changes up to this one are in what the bytes were built on; nil for none
  ///   - onConflict: the policy for photos that both sides changed. Before the first sync there is no base that a
  ///     change could have lost against, and both sides' photos stay.
  mutating func applyRemote(
    _ file: ShardFile, confirmedUpTo sequence: Int64?, onConflict: ConflictPolicy, logsLostRows: Bool = false
  ) throws -> Applied {
    let merge = RemoteMerge(
      record, confirmedUpTo: sequence, onConflict: onConflict, logsLostRows: logsLostRows)
    var (replaced, number) = ([RejectedRow](), 0)
    let lines = try kept.changes(by: file) { line, remote in
      let own = line.before.local - max(line.before.synced, remote)
      merge.merge(&line, remote: remote)
      number += 1
      guard own > 0, line.after.local <= remote else { return }
      for _ in 0..<own {
        replaced.append(RejectedRow(line: number, fault: .replaced, raw: line.line))
        number += 1
      }
    }
    var applied = try apply(file, merge, kept: lines)
    applied.replaced = replaced
    return applied
  }

  private mutating func apply(
    _ file: ShardFile, _ merge: RemoteMerge, kept lines: [KeptTable.Change]
  ) throws -> Applied {
    var (applied, lost) = (Applied(), [Lost]())
    try PhotoVersions.each(of: file, connection, catalogue: catalogue) { photo in
      let decision = merge.decision(photo)
      switch decision.row {
      case .keep: break
      case .write(let line):
        if photo.local == nil { record.photos += 1 }
        try line.withUnsafeBytes { try photos.put(photo.md5, $0) }
        isChanged = true
      case .delete:
        record.photos -= 1
        applied.removed += 1
        try photos.remove(photo.md5, now: transaction.now)
        isChanged = true
      }
      switch decision.base {
      case .keep: break
      case .write(let line):
        let row = BaseRow(line: line, sequence: photo.base?.base.sequence ?? record.sequence)
        try bases.put(photo.md5, BaseTable.Row(base: row, isImported: photo.base?.isImported ?? true))
      case .delete: if photo.base != nil { try bases.remove(photo.md5) }
      }
      if let conflict = decision.conflict { lost.append(Lost(photo, base: conflict.base)) }
    }
    try setKept(lines)
    (record.changes, record.imports) = try bases.counts(of: shard)
    let isFile = record.changes + record.imports + record.keptChanges == 0 && file.rejected.isEmpty
    record.source = isFile ? file.source : nil
    (record.syncedPhotos, record.syncedContent) = (Int64(file.entries.count), file.checksum)
    try log(lost, cause: .sync)
    applied.conflicts = lost.count
    return applied
  }

  /// Records that the remote has the local content.
  ///
  /// - Throws: `.busy` when neither the local content nor the version synchronized last has this checksum
  mutating func confirmIdentical(_ checksum: String) throws {
    try clearPendingUpload()
    if record.hasChanges {
      let bytes = try ShardLines.bytes(.local, of: record, connection, catalogue: catalogue)
      if Shard.checksum(bytes) == checksum {
        try bytes.withUnsafeBytes { bytes in
          let file = try ShardFile(bytes, shard: shard)
          try withExtendedLifetime(file) { _ = try confirmUpload(file, upTo: record.sequence) }
        }
        return
      }
    }
    guard
      try record.syncedChecksum == checksum
        || Shard.checksum(ShardLines.bytes(.synced, of: record, connection, catalogue: catalogue)) == checksum
    else {
      throw SatchelError(.busy, "shard \(shard) has changed since both sides were compared")
    }
    if record.isUnmet {
      // The remote is empty, and all content becomes changes of that.
      let empty = try ShardFile(UnsafeRawBufferPointer(start: nil, count: 0), shard: shard)
      _ = try applyRemote(empty, confirmedUpTo: nil, onConflict: .merge)
    }
  }

  /// Records the version in the remote.
  mutating func setSynced(_ checksum: String, etag: ETag?, ancestors: String?) throws {
    record.syncedChecksum = checksum
    try clearPendingUpload()
    record.etag = etag?.text
    record.ancestors = ancestors
    record.synced = transaction.now
  }

  /// Deletes the pending upload, and the changes without effect that were kept only for it.
  mutating func clearPendingUpload() throws {
    guard record.pendingUpload != nil else { return }
    record.pendingUpload = nil
    var idle: [MD5] = []
    let changed = try BaseReader(connection, catalogue: catalogue, shard)
    while let md5 = changed.md5, let row = changed.row {
      let line = try photos.line(of: md5)
      if row.isImported && record.isUnmet || row.base.line == line { idle.append(md5) }
      try changed.advance()
    }
    for md5 in idle { try bases.remove(md5) }
    if !idle.isEmpty { (record.changes, record.imports) = try bases.counts(of: shard) }
  }

  /// Deletes the version synchronized last: all content becomes a local change.
  mutating func detach() throws {
    try clearPendingUpload()
    if record.imports > 0 { try bases.removeAll(of: shard, onlyImported: true) }
    try kept.detach()
    (record.imports, record.syncedPhotos) = (0, 0)
    (record.kept, record.keptChanges) = try kept.counts()
    (record.syncedChecksum, record.syncedContent, record.etag) = (nil, nil, nil)
    (record.ancestors, record.synced) = (nil, nil)
  }
}
