import SatchelCore
import SatchelDocuments
import SatchelStorage

extension PhotoCatalogue {
  /// Returns the contradictions in a store's tables of photos. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(PhotoSchema.subject) else { return [] }
    return try database.read { connection in
      var findings: [StoreFinding] = []
      try PhotoCheck(connection: connection) { findings.append(StoreFinding(code: $0, message: $1)) }.run()
      return findings
    }
  }
}

/// Checks the tables of photos: recomputes every checksum and counter.
struct PhotoCheck {
  let connection: Connection
  /// Called with the code and the message of each finding.
  let report: (String, String) -> Void

  func run() throws {
    var catalogues: [(id: Int64, directory: String)] = []
    try connection.each("SELECT id, directory FROM photo_catalogue ORDER BY id") {
      catalogues.append(($0.anyInteger(0), $0.text(1)))
    }
    for catalogue in catalogues {
      for shard in Shard.Index.all { try check(shard, of: catalogue.id, catalogue.directory) }
      try checkLocal(catalogue.id, catalogue.directory)
      try checkConflicts(catalogue.id, catalogue.directory)
    }
    try checkOrphans()
  }

  // MARK: Shards

  private func check(_ shard: Shard.Index, of catalogue: Int64, _ directory: String) throws {
    let location = "\(directory), shard \(shard)"
    let record: ShardRecord
    do {
      record = try ShardTable(connection: connection, catalogue: catalogue).record(shard)
      try check(record.base, of: shard, location)
      if record.isImported { try check(record.ancestor, of: shard, location) }
    } catch let error as SatchelError where error.code == .damaged {
      return report("photo_block", "\(location): \(error.message)")
    }
    if !record.isImported, record.ancestor.id != 0 {
      report("photo_shard", "\(location): has an ancestor, though no file replaced the base")
    }
    if !record.isImported, record.syncedChecksum == nil, record.base.id != 0 {
      report("photo_shard", "\(location): has a base that came neither from a file nor from the remote")
    }
    if record.isImported, record.base.checksum == record.ancestor.checksum {
      report("photo_shard", "\(location): is marked as imported, but equals the version synchronized last")
    }
    do {
      try checkChanges(record, of: catalogue, location)
    } catch let error as SatchelError where error.code == .damaged {
      report("photo_change", "\(location): \(error.message)")
    }
  }

  private func check(_ version: ShardVersion, of shard: Shard.Index, _ location: String) throws {
    let blocks = try ShardVersionReader(connection, version, shard: shard)
    var counted = ShardVersion(id: version.id, checksum: "", photos: 0, kept: 0, bytes: 0)
    var hash = SHA256()
    var last: MD5?
    var end: UInt64?
    var lastBlock: Int64?
    var photos: [ShardContent.Entry] = []
    let feed: [UInt8] = [UInt8(ascii: "\n")]
    while let block = try blocks.nextBlock() {
      if counted.bytes > 0 {
        counted.bytes += 1
        feed.withUnsafeBytes { hash.update($0) }
      }
      counted.bytes += Int64(block.lines.count)
      hash.update(block.lines)
      let content = try check(block, shard, after: &last)
      counted.photos += Int64(content.photos.count)
      counted.kept += content.kept
      let first = content.photos.first?.md5.place ?? .max
      let last = content.photos.last?.md5.place ?? 0
      if last > block.location.place || end.map({ first <= $0 }) ?? false {
        report(
          "photo_block", "\(location): block \(block.location.id) contains other photos than its id says")
      }
      (end, lastBlock) = (block.location.place, block.location.id)
      photos += content.photos
    }
    if lastBlock != version.blocks.upperBound, version.id != 0 {
      report("photo_block", "\(location): the last block of version \(version.id) is missing")
    }
    if try !DateTable(connection: connection).isComplete(version, photos) {
      report("photo_date", "\(location): version \(version.id) has other dates than its photos")
    }
    counted.checksum = hash.digest().hexadecimal
    if counted != version {
      report(
        "photo_version",
        "\(location): version \(version.id) has \(counted.photos) photos and \(counted.kept) kept lines in "
          + "\(counted.bytes) bytes with another checksum or other numbers than its row says")
    }
  }

  /// The content of a block, as counted.
  private struct Content {
    var photos: [ShardContent.Entry] = []
    var kept: Int64 = 0
  }

  private func check(_ block: BlockTable.Block, _ shard: Shard.Index, after last: inout MD5?) throws
    -> Content
  {
    var content = Content()
    var reader = ShardReader(block.lines, shard: shard)
    while let piece = reader.next() {
      guard case .photo(let row) = piece else {
        content.kept += 1
        continue
      }
      if let last, last >= row.md5 { throw block.location.damage("photos are not in order") }
      last = row.md5
      content.photos.append(
        ShardContent.Entry(
          md5: row.md5, range: row.start..<row.end, line: row.line, photodate: row.photodate,
          isCanonical: row.isCanonical))
    }
    // Throws when a line is neither a photo nor may be kept.
    var lines = BlockReader(block.lines, isPlain: block.isPlain, location: block.location)
    while try lines.next() != nil {}
    if block.isPlain, content.kept > 0 { throw block.location.damage("is not plain") }
    return content
  }

  private func checkChanges(_ record: ShardRecord, of catalogue: Int64, _ location: String) throws {
    var counted = ShardRecord(shard: record.shard)
    let base = BlockCursor(connection, record.base, shard: record.shard)
    let overlay = try OverlayReader(connection, catalogue: catalogue, in: MD5.bounds(of: record.shard))
    while let row = overlay.current {
      counted.changes += 1
      if row.line == nil, row.isInBase { counted.removed += 1 }
      if row.line != nil, !row.isInBase { counted.added += 1 }
      if let line = row.line {
        let photo = try PhotoLookup.parse(line, row.md5)
        if photo.photodate != row.photodate {
          report("photo_change", "\(location): \(row.md5) has another date than its row")
        }
      }
      try base.withLine(of: row.md5) { line in
        if (line != nil) != row.isInBase {
          report("photo_change", "\(location): \(row.md5) has a wrong in_base")
        }
        if record.pendingUpload == nil, ShardEdit.isSame(line, row.line) {
          report("photo_change", "\(location): the change of \(row.md5) equals the base")
        }
      }
      if row.sequence > record.sequence {
        report("photo_change", "\(location): \(row.md5) has a later sequence than its shard")
      }
      try overlay.advance()
    }
    if (counted.changes, counted.added, counted.removed) != (record.changes, record.added, record.removed) {
      report("photo_shard", "\(location): has counters that differ from its changes")
    }
  }

  // MARK: The rest

  private func checkLocal(_ catalogue: Int64, _ directory: String) throws {
    try connection.each(
      """
      SELECT md5, backup, queued, lease_owner FROM photo_local WHERE catalogue = ?
      AND (length(md5) <> 16 OR backup NOT BETWEEN 0 AND 4 OR (backup = 1 AND queued IS NULL)
      OR (backup = 2) <> (lease_owner IS NOT NULL))
      """, .integer(catalogue)
    ) { row in
      let md5 = MD5(row: row.bytes(0)).map(\.description) ?? "a photo without md5"
      report("photo_local", "\(directory): \(md5) has an impossible status (\(row.anyInteger(1)))")
    }
  }

  private func checkConflicts(_ catalogue: Int64, _ directory: String) throws {
    let (log, owner) = (ConflictLog(connection), ConflictLog.Owner(.photos, catalogue))
    for id in try log.ids(of: owner) {
      do {
        for row in try log.rows(of: owner, after: id - 1, limit: 1) {
          _ = try PhotoCatalogue.conflict(row, in: directory)
        }
      } catch let error as SatchelError where error.code == .damaged {
        report("conflict", "\(directory): conflict \(id): \(error.message)")
      }
    }
  }

  private func checkOrphans() throws {
    let versions = try connection.number(
      """
      SELECT count(*) FROM photo_version WHERE id NOT IN (SELECT base FROM photo_shard)
      AND id NOT IN (SELECT ancestor FROM photo_shard)
      """)
    if versions > 0 { report("photo_version", "\(versions) versions belong to no shard") }
    let blocks = try connection.number(
      """
      SELECT count(*) FROM photo_block
      WHERE id >> 32 NOT IN (SELECT id FROM photo_version)
      """
    )
    if blocks > 0 { report("photo_block", "\(blocks) blocks belong to no version") }
    let dates = try connection.number(
      "SELECT count(*) FROM photo_date WHERE id >> 32 NOT IN (SELECT id FROM photo_version)")
    if dates > 0 { report("photo_date", "\(dates) rows belong to no version") }
    let rows = try connection.number(
      """
      SELECT (SELECT count(*) FROM photo_change WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_shard WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_local WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_file WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_index WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM conflict WHERE subject = 1 AND owner NOT IN (SELECT id FROM photo_catalogue))
      """)
    if rows > 0 { report("photo_catalogue", "\(rows) rows belong to no catalogue") }
    let strange = try connection.number(
      "SELECT count(*) FROM photo_change WHERE length(md5) <> 16")
    if strange > 0 { report("photo_change", "\(strange) changes have an md5 of the wrong length") }
  }
}
