import SatchelStorage

/// Examines the tables of photos: everything that is counted is counted again.
struct PhotoCheck {
  let connection: Connection
  /// Hears of what is found: a code and a message.
  let find: (String, String) -> Void

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
    let place = "\(directory), shard \(shard)"
    let record: ShardRecord
    do {
      record = try ShardTable(connection: connection, catalogue: catalogue).record(shard)
      try check(record.base, of: shard, place)
      if record.isImported { try check(record.ancestor, of: shard, place) }
    } catch let error as SatchelError where error.code == .damaged {
      return find("photo_block", "\(place): \(error.message)")
    }
    if !record.isImported, record.ancestor.id != 0 {
      find("photo_shard", "\(place): has an ancestor, though no file replaced the base")
    }
    if !record.isImported, record.agreed == nil, record.base.id != 0 {
      find("photo_shard", "\(place): has a base that neither a file nor the master brought")
    }
    if record.isImported, record.base.checksum == record.ancestor.checksum {
      find("photo_shard", "\(place): is marked as imported, but is what was agreed")
    }
    do {
      try checkChanges(record, of: catalogue, place)
    } catch let error as SatchelError where error.code == .damaged {
      find("photo_change", "\(place): \(error.message)")
    }
  }

  private func check(_ level: ShardLevel, of shard: Shard.Index, _ place: String) throws {
    let blocks = try LevelReader(connection, level, shard: shard)
    var counted = ShardLevel(id: level.id, checksum: "", photos: 0, kept: 0, bytes: 0)
    var hash = SHA256()
    var last: MD5?
    let feed: [UInt8] = [UInt8(ascii: "\n")]
    while let block = try blocks.nextBlock() {
      if counted.bytes > 0 {
        counted.bytes += 1
        feed.withUnsafeBytes { hash.update($0) }
      }
      counted.bytes += Int64(block.lines.count)
      hash.update(block.lines)
      let content = try check(block, shard, after: &last)
      counted.photos += content.photos
      counted.kept += content.kept
      if blocks.photos != content.photos || blocks.first != content.first {
        find("photo_block", "\(place): block \(block.place.id) holds other photos than it says")
      }
      if try blocks.earliest != content.dates.min() || blocks.latest != content.dates.max()
        || !BlockDates(connection: connection).areMissing(or: content.dates, block: block.place.id)
      {
        find("photo_block", "\(place): block \(block.place.id) holds other dates than it says")
      }
    }
    counted.checksum = hash.digest().hexadecimal
    if counted != level {
      find(
        "photo_level",
        "\(place): level \(level.id) has \(counted.photos) photos and \(counted.kept) kept lines in "
          + "\(counted.bytes) bytes with another checksum or other numbers than it says")
    }
  }

  /// What a block really holds.
  private struct Content {
    var photos: Int64 = 0
    var kept: Int64 = 0
    var first: MD5?
    /// Of its photos, in their order.
    var dates: [Int64] = []
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
      if let last, last >= row.md5 { throw block.place.damage("photos are not in order") }
      last = row.md5
      if content.first == nil { content.first = row.md5 }
      content.photos += 1
      content.dates.append(row.photodate)
    }
    // Photos only, and each on its line.
    var lines = BlockReader(block.lines, isPlain: block.isPlain, place: block.place)
    while try lines.next() != nil {}
    if block.isPlain, content.kept > 0 { throw block.place.damage("is not plain") }
    return content
  }

  private func checkChanges(_ record: ShardRecord, of catalogue: Int64, _ place: String) throws {
    var counted = ShardRecord(shard: record.shard)
    let base = BlockCursor(connection, record.base, shard: record.shard)
    let overlay = try OverlayReader(connection, catalogue: catalogue, in: MD5.bounds(of: record.shard))
    while let row = overlay.current {
      counted.changes += 1
      if row.line == nil, row.isInBase { counted.removed += 1 }
      if row.line != nil, !row.isInBase { counted.added += 1 }
      if let line = row.line {
        let photo = try PhotoLookup.parse(line, row.md5)
        if photo.photodate != row.photodate { find("photo_change", "\(place): \(row.md5) has another date") }
      }
      try base.withLine(of: row.md5) { line in
        if (line != nil) != row.isInBase {
          find("photo_change", "\(place): \(row.md5) is wrong about the base")
        }
        if record.intent == nil, ShardEdit.isSame(line, row.line) {
          find("photo_change", "\(place): the change of \(row.md5) changes nothing")
        }
      }
      if row.sequence > record.sequence {
        find("photo_change", "\(place): \(row.md5) is later than its shard")
      }
      try overlay.advance()
    }
    if (counted.changes, counted.added, counted.removed) != (record.changes, record.added, record.removed) {
      find("photo_shard", "\(place): counts other changes than there are")
    }
  }

  // MARK: The rest

  private func checkLocal(_ catalogue: Int64, _ directory: String) throws {
    try connection.each(
      """
      SELECT md5, backup, queued, owner FROM photo_local WHERE catalogue = ?
      AND (length(md5) <> 16 OR backup NOT BETWEEN 0 AND 4 OR (backup = 1 AND queued IS NULL)
      OR (backup = 2) <> (owner IS NOT NULL))
      """, .integer(catalogue)
    ) { row in
      let md5 = MD5(row: row.bytes(0)).map(\.description) ?? "a photo without md5"
      find("photo_local", "\(directory): \(md5) has a status that cannot be (\(row.anyInteger(1)))")
    }
  }

  private func checkConflicts(_ catalogue: Int64, _ directory: String) throws {
    let table = ConflictTable(connection: connection, catalogue: catalogue)
    var last: Int64 = 0
    while let id = try table.next(after: last) {
      last = id
      do {
        _ = try table.row(id)
      } catch let error as SatchelError where error.code == .damaged {
        find("photo_conflict", "\(directory): conflict \(id): \(error.message)")
      }
    }
  }

  private func checkOrphans() throws {
    let levels = try connection.number(
      """
      SELECT count(*) FROM photo_level WHERE id NOT IN (SELECT base FROM photo_shard)
      AND id NOT IN (SELECT ancestor FROM photo_shard)
      """)
    if levels > 0 { find("photo_level", "\(levels) levels belong to no shard") }
    let blocks = try connection.number(
      "SELECT count(*) FROM photo_block WHERE id >> 32 NOT IN (SELECT id FROM photo_level) OR level <> id >> 32"
    )
    if blocks > 0 { find("photo_block", "\(blocks) blocks belong to no level") }
    let dates = try connection.number(
      "SELECT count(*) FROM photo_date WHERE block NOT IN (SELECT id FROM photo_block)")
    if dates > 0 { find("photo_date", "the dates of \(dates) blocks that are not there") }
    let rows = try connection.number(
      """
      SELECT (SELECT count(*) FROM photo_change WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_shard WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_local WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_file WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      + (SELECT count(*) FROM photo_conflict WHERE catalogue NOT IN (SELECT id FROM photo_catalogue))
      """)
    if rows > 0 { find("photo_catalogue", "\(rows) rows belong to no catalogue") }
    let strange = try connection.number(
      "SELECT count(*) FROM photo_change WHERE length(md5) <> 16")
    if strange > 0 { find("photo_change", "\(strange) changes are of no photo") }
  }
}
