import SatchelCore
import SatchelDocuments
import SatchelRemote
import SatchelStorage
import SatchelSync

/// Changes one shard inside a transaction. All writes of photos, bases, counters and flags go through it.
struct ShardEdit {
  let transaction: Transaction
  let catalogue: Int64
  var record: ShardRecord
  /// Whether photos or kept lines have changed.
  var isChanged = false

  var connection: Connection { transaction.connection }
  var shard: Shard.Index { record.shard }
  var photos: PhotoTable { PhotoTable(connection: connection, catalogue: catalogue) }
  var bases: BaseTable { BaseTable(connection: connection, catalogue: catalogue) }
  var kept: KeptTable { KeptTable(connection: connection, catalogue: catalogue, shard: shard) }

  init(_ transaction: Transaction, catalogue: Int64, shard: Shard.Index) throws {
    self.transaction = transaction
    self.catalogue = catalogue
    record = try ShardTable(connection: transaction.connection, catalogue: catalogue).record(shard)
  }

  /// Writes the shard's own row.
  mutating func save() throws {
    if isChanged {
      record.modified = transaction.now
      try TrashTable(connection: connection, catalogue: catalogue).expire(now: transaction.now)
    }
    try ShardTable(connection: connection, catalogue: catalogue).put(record)
  }

  // MARK: Single photos

  /// Sets a photo's line, or deletes the photo.
  ///
  /// A change that restores the line synchronized last removes the earlier change, except while an upload is pending:
  /// then the uploaded bytes may be about to be that version.
  ///
  /// - Parameter line: the canonical line; nil to delete
  /// - Returns: whether anything changed
  mutating func set(_ md5: MD5, line: UnsafeRawBufferPointer?, sequence: Int64) throws -> Bool {
    let old = try photos.line(of: md5)
    if Self.isSame(old, line) { return false }
    try change(md5, from: old, to: line, sequence: sequence, base: bases.row(md5), isImported: false)
    return true
  }

  /// Writes a photo's row and its base row.
  private mutating func change(
    _ md5: MD5, from old: [UInt8]?, to line: UnsafeRawBufferPointer?, sequence: Int64,
    base before: BaseTable.Row?,
    isImported: Bool
  ) throws {
    if let line { try photos.put(md5, line) } else { try photos.remove(md5, now: transaction.now) }
    record.photos += (line == nil ? 0 : 1) - (old == nil ? 0 : 1)
    (record.source, record.sequence, isChanged) = (nil, sequence, true)
    let base = before.map { $0.base.line } ?? old
    // Before the first sync, the rows of an imported file differ from nothing.
    let isNothing = record.pendingUpload == nil && (record.isUnmet && isImported || Self.isSame(base, line))
    try setBase(
      md5, from: before,
      to: isNothing
        ? nil : BaseTable.Row(base: BaseRow(line: base, sequence: sequence), isImported: isImported))
  }

  private mutating func setBase(_ md5: MD5, from before: BaseTable.Row?, to after: BaseTable.Row?) throws {
    if let before { count(before, -1) }
    if let after { count(after, 1) }
    if let after { try bases.put(md5, after) } else if before != nil { try bases.remove(md5) }
  }

  private mutating func count(_ row: BaseTable.Row, _ difference: Int64) {
    if row.isImported { record.imports += difference } else { record.changes += difference }
  }

  static func isSame(_ one: UnsafeRawBufferPointer?, _ other: UnsafeRawBufferPointer?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return one.elementsEqualInMemory(other)
  }

  static func isSame(_ one: [UInt8]?, _ other: UnsafeRawBufferPointer?) -> Bool {
    guard let one else { return other == nil }
    return one.withUnsafeBytes { isSame($0, other) }
  }

  // MARK: Files

  /// Replaces the shard's content by a local file.
  ///
  /// - Parameter onConflict: the policy for photos that were changed here since the last sync
  /// - Returns: how many changes went to the conflict log
  mutating func importFile(_ file: ShardFile, sequence: Int64, onConflict: ConflictPolicy) throws -> Int {
    var lost: [Lost] = []
    try PhotoVersions.each(of: file, connection, catalogue: catalogue) { photo in
      let base = photo.base
      if Self.isSame(photo.local, photo.remote) {
        // A change that the file has as well counts as one of the file.
        guard var row = base, !row.isImported else { return }
        row.isImported = true
        try setBase(photo.md5, from: base, to: record.isUnmet && record.pendingUpload == nil ? nil : row)
        return
      }
      if let base, !base.isImported {
        if onConflict == .merge { return }
        lost.append(Lost(photo, base: base.base.line))
      }
      try change(
        photo.md5, from: photo.local, to: photo.remote, sequence: sequence, base: base, isImported: true)
    }
    try setKept(kept.changes(by: file) { $0.after.local = $1 })
    record.source = file.rejected.isEmpty && record.changes == 0 ? file.source : nil
    record.sequence = sequence
    try log(lost, cause: .import)
    return lost.count
  }

  /// Writes changes of the kept lines.
  mutating func setKept(_ changes: [KeptTable.Change]) throws {
    try kept.write(changes)
    if changes.contains(where: { $0.before.local != $0.after.local }) { isChanged = true }
    record.kept = changes.reduce(0) { $0 + $1.after.local }
    record.keptChanges = Int64(changes.count { $0.after.local != $0.after.synced })
  }

  /// A local change for the conflict log.
  struct Lost {
    var md5: MD5
    var local: [UInt8]?
    var remote: [UInt8]?
    var base: [UInt8]?

    init(_ photo: borrowing PhotoVersions, base: [UInt8]?) {
      (md5, local, remote) = (photo.md5, photo.local, photo.remote.map { Array($0) })
      self.base = base
    }
  }

  func log(_ lost: [Lost], cause: ConflictEntry.Cause) throws {
    let log = ConflictLog(connection)
    for lost in lost {
      var row = ConflictLog.Row(
        ConflictLog.Owner(.photos, catalogue), lost.md5.description, time: transaction.now)
      (row.side, row.cause) = (.local, cause)
      (row.local, row.remote, row.base) = (lost.local, lost.remote, lost.base)
      try log.add(row)
    }
  }
}

/// A photo of a shard: in a file, in the local rows, and as it was before a local change.
struct PhotoVersions {
  var md5: MD5
  /// The file's line; valid only during the visit.
  var remote: UnsafeRawBufferPointer?
  var local: [UInt8]?
  var base: BaseTable.Row?

  /// Visits each photo of a file or its shard in the order of md5. The visit may write the photo's own rows.
  static func each(
    of file: ShardFile, _ connection: Connection, catalogue: Int64, _ visit: (PhotoVersions) throws -> Void
  ) throws {
    let rows = try PhotoLineReader(connection, catalogue: catalogue, file.shard)
    let changed = try BaseReader(connection, catalogue: catalogue, file.shard)
    var index = 0
    while true {
      let entry = index < file.entries.count ? file.entries[index] : nil
      var least = entry?.md5 ?? rows.md5 ?? changed.md5
      if let md5 = rows.md5, let other = least, md5 < other { least = md5 }
      if let md5 = changed.md5, let other = least, md5 < other { least = md5 }
      guard let md5 = least else { return }
      var photo = PhotoVersions(md5: md5)
      // Both readers advance before the visit writes: they are then after the rows that it writes.
      if rows.md5 == md5 {
        photo.local = rows.line
        try rows.advance()
      }
      if changed.md5 == md5 {
        photo.base = changed.row
        try changed.advance()
      }
      if let entry, entry.md5 == md5 {
        photo.remote = file.line(entry)
        index += 1
      }
      try visit(photo)
    }
  }
}
