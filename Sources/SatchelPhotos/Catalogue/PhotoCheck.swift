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
    } catch let error as SatchelError where error.code == .damaged {
      return report("photo_shard", "\(location): \(error.message)")
    }
    do {
      try checkPhotos(record, of: catalogue, location)
      try checkChanges(record, of: catalogue, location)
      let kept = try KeptTable(connection: connection, catalogue: catalogue, shard: shard).counts()
      if kept != (record.kept, record.keptChanges) {
        report("photo_kept", "\(location): has other numbers of kept lines than its row says")
      }
      guard !record.isUnmet else {
        if record.syncedPhotos > 0 || record.syncedContent != nil {
          report("photo_shard", "\(location): has synchronized content, but was never synchronized")
        }
        return
      }
      var hash = SHA256()
      let photos = try ShardLines.write(.synced, of: record, connection, catalogue: catalogue) {
        hash.update($0)
      }
      try record.check(hash.digest().hexadecimal)
      if photos != record.syncedPhotos {
        report(
          "photo_shard",
          "\(location): \(record.syncedPhotos) photos were synchronized, but \(photos) are there")
      }
    } catch let error as SatchelError where error.code == .damaged {
      report("photo", "\(location): \(error.message)")
    }
  }

  private func checkPhotos(_ record: ShardRecord, of catalogue: Int64, _ location: String) throws {
    var photos: Int64 = 0
    let rows = try PhotoLineReader(connection, catalogue: catalogue, record.shard)
    while let md5 = rows.md5 {
      photos += 1
      // Also a name that is not UTF-8, and a negative number.
      let photo = try PhotoLookup.parse(rows.line, md5)
      var line: [UInt8] = []
      ShardWriter.write(photo, into: &line)
      if line != rows.line { report("photo", "\(location): \(md5) has values that cannot be written") }
      try rows.advance()
    }
    if photos != record.photos {
      report("photo_shard", "\(location): has \(photos) photos, and \(record.photos) in its row")
    }
  }

  private func checkChanges(_ record: ShardRecord, of catalogue: Int64, _ location: String) throws {
    var counted = ShardRecord(shard: record.shard)
    let photos = PhotoTable(connection: connection, catalogue: catalogue)
    let changed = try BaseReader(connection, catalogue: catalogue, record.shard)
    while let md5 = changed.md5, let row = changed.row {
      if row.isImported { counted.imports += 1 } else { counted.changes += 1 }
      if let line = row.base.line { _ = try PhotoLookup.parse(line, md5) }
      let line = try photos.line(of: md5)
      if record.pendingUpload == nil, row.base.line == line {
        report("photo_base", "\(location): the change of \(md5) changes nothing")
      }
      if row.base.sequence > record.sequence {
        report("photo_base", "\(location): \(md5) has a later sequence than its shard")
      }
      try changed.advance()
    }
    if (counted.changes, counted.imports) != (record.changes, record.imports) {
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
    let rows = try connection.number(
      """
      SELECT (SELECT count(*) FROM photo WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_base WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_kept WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_trash WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_shard WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_local WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_file WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_index WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM conflict WHERE subject = 1 AND owner NOT IN (SELECT id FROM photo_catalogue))
      """)
    if rows > 0 { report("photo_catalogue", "\(rows) rows belong to no catalogue") }
    let strange = try connection.number(
      """
      SELECT (SELECT count(*) FROM photo WHERE length(md5) <> 16)
      + (SELECT count(*) FROM photo_base WHERE length(md5) <> 16)
      + (SELECT count(*) FROM photo_trash WHERE length(md5) <> 16)
      """)
    if strange > 0 { report("photo", "\(strange) rows have an md5 of the wrong length") }
  }
}
