import SatchelAssets
import SatchelCore
import SatchelStorage

/// The assets of the sync log's entries, decoded: which exist, and which entries refer to them. Both are written in the
/// transaction that writes the entry.
struct SyncAssetTables {
  static let schema = """
    -- The assets of the entries of "@asset", decoded: those of each `generation` of `sync_entry`, except deletions and
    -- damaged ones. `entry` is the row of the entry. `object` is where the bytes are, NULL for nowhere: at `start`,
    -- sealed with `key`; `whole` is the length of all that the object was written with. `next` are objects that are
    -- reserved for uploads, separated by spaces. `suspect` is 1 where a device could not read the object, `doubt`
    -- where this one could not, which is still to be looked at. `sensitive` is 1 where devices store the bytes
    -- encrypted. `unused` is the number of the first head without a reference to the asset, and `unreferenced` is 1
    -- while no entry of the generation refers to it. The generation 0 is that of a log that was lost: its objects may
    -- be there.
    CREATE TABLE sync_asset(
      id INTEGER PRIMARY KEY,
      generation INTEGER NOT NULL,
      sha256 BLOB NOT NULL,
      entry INTEGER,
      size INTEGER NOT NULL,
      object TEXT,
      start INTEGER NOT NULL,
      whole INTEGER NOT NULL,
      key BLOB,
      next TEXT,
      suspect INTEGER,
      sensitive INTEGER,
      doubt INTEGER,
      unused INTEGER,
      unreferenced INTEGER,
      UNIQUE(generation, sha256)
    ) STRICT;
    CREATE INDEX sync_asset_entry ON sync_asset(entry) WHERE entry IS NOT NULL;
    CREATE INDEX sync_asset_object ON sync_asset(object) WHERE object IS NOT NULL;
    CREATE INDEX sync_asset_unused ON sync_asset(generation, unused) WHERE unused IS NOT NULL;
    CREATE INDEX sync_asset_unreferenced ON sync_asset(generation) WHERE unreferenced IS NOT NULL;
    CREATE INDEX sync_asset_suspect ON sync_asset(generation) WHERE suspect IS NOT NULL OR doubt IS NOT NULL;

    -- The assets that the documents of entries refer to, also those of collections that are not declared.
    CREATE TABLE sync_asset_reference(
      entry INTEGER NOT NULL,
      sha256 BLOB NOT NULL,
      generation INTEGER NOT NULL,
      PRIMARY KEY(entry, sha256)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sync_asset_reference_sha256 ON sync_asset_reference(generation, sha256);
    """

  static let bounds: [String: ClosedRange<Int64>] = [
    "sync_asset.generation": StoredRange.count, "sync_asset.size": 0...AssetLayout.maximumSize,
    "sync_asset.start": 0...AssetLayout.maximumSize, "sync_asset.whole": 0...AssetLayout.maximumSize * 2,
    "sync_asset.suspect": StoredRange.flag, "sync_asset.sensitive": StoredRange.flag,
    "sync_asset.doubt": StoredRange.flag,
    "sync_asset.unused": StoredRange.count, "sync_asset.unreferenced": StoredRange.flag,
    "sync_asset_reference.generation": StoredRange.count,
  ]

  /// The generation of a log that was lost.
  static let former: Int64 = 0

  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  // MARK: Entries

  /// Decodes the entry of a row that was written.
  ///
  /// - Parameter id: of the row; it was new if `row` has none
  func note(_ row: SyncRow, id: Int64) throws {
    let envelope = try row.entry.map { try row.envelope($0) }
    try setReferences(envelope?.assets ?? [], of: id, row.generation, isNew: row.id == 0)
    if row.key.collection == SyncKey.asset { try setAsset(envelope, of: id, row) }
  }

  /// Forgets the entry of a row that is deleted.
  func forget(_ id: Int64) throws {
    try connection.run("DELETE FROM sync_asset WHERE entry = ?", .integer(id))
    try setReferences([], of: id, 0, isNew: false)
  }

  func clear() throws {
    for sql: StaticString in ["DELETE FROM sync_asset", "DELETE FROM sync_asset_reference"] {
      try connection.run(sql)
    }
  }

  /// Decodes all entries again.
  func rebuild(_ table: SyncRowTable) throws {
    try clear()
    for id in try connection.numbers(
      "SELECT id FROM sync_entry WHERE seq >= ? AND generation <= ?", .integer(0), .integer(Int64.max))
    {
      if let row = try? table.row(id) { try note(row, id: id) }
    }
  }

  private func setReferences(
    _ assets: [AssetDigest], of entry: Int64, _ generation: Int64, isNew: Bool
  ) throws {
    if isNew, assets.isEmpty { return }
    var (old, oldGeneration) = (Set<AssetDigest>(), generation)
    if !isNew {
      try connection.each(
        "SELECT sha256, generation FROM sync_asset_reference WHERE entry = ?", .integer(entry)
      ) { found in
        old.insert(try Self.digest(found, 0))
        oldGeneration = try found.integer(1, in: StoredRange.count)
      }
    }
    let new = Set(assets)
    let isMoved = oldGeneration != generation
    for digest in old where isMoved || !new.contains(digest) {
      try remove(digest, from: entry, oldGeneration)
    }
    for digest in new where isMoved || !old.contains(digest) { try add(digest, to: entry, generation) }
  }

  private func add(_ digest: AssetDigest, to entry: Int64, _ generation: Int64) throws {
    try digest.bytes.withUnsafeBytes { digest in
      try connection.run(
        "INSERT OR IGNORE INTO sync_asset_reference(entry, sha256, generation) VALUES(?, ?, ?)",
        .integer(entry), .blob(digest), .integer(generation))
      try connection.run(
        "UPDATE sync_asset SET unreferenced = NULL WHERE generation = ? AND sha256 = ?", .integer(generation),
        .blob(digest))
    }
  }

  private func remove(_ digest: AssetDigest, from entry: Int64, _ generation: Int64) throws {
    try digest.bytes.withUnsafeBytes { digest in
      try connection.run(
        "DELETE FROM sync_asset_reference WHERE entry = ? AND sha256 = ?", .integer(entry), .blob(digest))
      try connection.run(
        """
        UPDATE sync_asset SET unreferenced = 1 WHERE generation = ?1 AND sha256 = ?2
        AND NOT EXISTS(SELECT 1 FROM sync_asset_reference WHERE generation = ?1 AND sha256 = ?2)
        """, .integer(generation), .blob(digest))
    }
  }

  private func setAsset(_ envelope: SyncEnvelope?, of entry: Int64, _ row: SyncRow) throws {
    let doubted =
      try connection.first(
        "SELECT object FROM sync_asset WHERE entry = ? AND doubt IS NOT NULL", .integer(entry)
      ) { $0.textIfAny(0) } ?? nil
    if row.id != 0 { try connection.run("DELETE FROM sync_asset WHERE entry = ?", .integer(entry)) }
    guard let digest = AssetDigest(row.key.id), let document = envelope?.content.document,
      let asset = try? SyncAssetEntry(parsing: document)
    else { return }
    let location = asset.location
    let object = location?.object.description
    let next = asset.reservations.map(\.object.description).joined(separator: " ")
    try digest.bytes.withUnsafeBytes { sha256 in
      try (location?.key ?? []).withUnsafeBytes { key in
        try connection.run(
          """
          INSERT OR REPLACE INTO sync_asset(generation, sha256, entry, size, object, start, whole, key, next, suspect,
          doubt, unused, sensitive, unreferenced) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
          CASE WHEN EXISTS(SELECT 1 FROM sync_asset_reference WHERE generation = ?1 AND sha256 = ?2) THEN NULL ELSE 1 END)
          """, .integer(row.generation), .blob(sha256), .integer(entry), .integer(asset.size),
          Binding(object),
          .integer(location?.offset ?? 0), .integer(location?.of ?? 0),
          location == nil ? .null : .blob(key), next.isEmpty ? .null : .text(next),
          asset.isSuspect ? .integer(1) : .null,
          doubted != nil && doubted == object ? .integer(1) : .null, Binding(asset.unused),
          asset.isSensitive ? .integer(1) : .null)
      }
    }
  }

  /// Keeps the objects of a log that is replaced by another one: an entry may name them again.
  ///
  /// - Parameter generation: that of its entries
  func keepFormer(_ generation: Int64) throws {
    try connection.run("DELETE FROM sync_asset WHERE generation = ?", .integer(Self.former))
    try connection.run(
      """
      UPDATE sync_asset SET generation = ?, entry = NULL, suspect = NULL, doubt = NULL, unused = NULL, unreferenced = NULL
      WHERE generation = ? AND object IS NOT NULL
      """, .integer(Self.former), .integer(generation))
  }

  /// Forgets the objects of a log that was lost: they are deleted from now on.
  func forgetFormer() throws {
    try connection.run("DELETE FROM sync_asset WHERE generation = ?", .integer(Self.former))
  }

  // MARK: Reading

  static func digest(_ row: Statement, _ column: Int32) throws -> AssetDigest {
    guard let digest = AssetDigest(Array(row.bytes(column))) else {
      throw row.damage(column, "is not a SHA-256")
    }
    return digest
  }

  /// Whether an entry refers to an asset.
  func isReferred(_ digest: AssetDigest, _ generation: Int64) throws -> Bool {
    try digest.bytes.withUnsafeBytes { digest in
      try connection.number(
        "SELECT EXISTS(SELECT 1 FROM sync_asset_reference WHERE generation = ? AND sha256 = ?)",
        .integer(generation), .blob(digest)) > 0
    }
  }

  /// Where an asset is; nil where there is no entry, or no object.
  func located(
    _ digest: AssetDigest, _ generation: Int64
  ) throws -> (size: Int64, location: SyncAssetEntry.Location, isSuspect: Bool, isSensitive: Bool)? {
    try digest.bytes.withUnsafeBytes { digest in
      try connection.first(
        """
        SELECT size, object, start, whole, key, suspect, sensitive FROM sync_asset WHERE generation = ? AND sha256 = ?
        AND object IS NOT NULL
        """, .integer(generation), .blob(digest)
      ) { row in
        let size = try row.integer(0, in: 0...AssetLayout.maximumSize)
        let key = Array(row.bytes(4))
        guard let object = AssetObject(row.text(1)) else {
          throw row.damage(1, "is not the name of an object")
        }
        guard key.count == EncryptionKey.length else { throw row.damage(4, "is not a key") }
        let of = try row.integer(3, in: AssetLayout(size: size).length...AssetLayout.maximumSize * 2)
        let start = try row.integer(2, in: 0...of - AssetLayout(size: size).length)
        return (
          size: size, location: SyncAssetEntry.Location(object: object, offset: start, of: of, key: key),
          isSuspect: row.flag(5), isSensitive: row.flag(6)
        )
      }
    }
  }

  // MARK: Check

  /// Compares the tables with the entries.
  func check(_ table: SyncRowTable, _ report: (String, String) -> Void) throws {
    try connection.each("SELECT id FROM sync_entry WHERE seq IS NOT NULL") { found in
      guard let row = try table.row(try found.integer(0)), let entry = row.entry else { return }
      let envelope = try row.envelope(entry)
      if try references(of: row.id) != envelope.assets.map({ "\(row.generation) \($0)" }) {
        report("sync_asset_reference", "\(row.key): the assets that it refers to are not those of its entry")
      }
      if row.key.collection == SyncKey.asset { try check(row, envelope, report) }
    }
    let orphans = try connection.number(
      """
      SELECT (SELECT count(*) FROM sync_asset_reference WHERE entry NOT IN (SELECT id FROM sync_entry))
      + (SELECT count(*) FROM sync_asset WHERE generation > 0 AND entry NOT IN (SELECT id FROM sync_entry))
      """)
    if orphans > 0 { report("sync_asset", "\(orphans) assets belong to no entry of the sync log") }
    let wrong = try connection.number(
      """
      SELECT count(*) FROM sync_asset a WHERE generation > 0 AND (unreferenced IS NULL) <>
      EXISTS(SELECT 1 FROM sync_asset_reference r WHERE r.generation = a.generation AND r.sha256 = a.sha256)
      """)
    if wrong > 0 { report("sync_asset", "of \(wrong) assets it is wrong whether an entry refers to them") }
  }

  private func references(of entry: Int64) throws -> [String] {
    var found: [String] = []
    try connection.each(
      "SELECT generation, sha256 FROM sync_asset_reference WHERE entry = ? ORDER BY sha256", .integer(entry)
    ) { found.append("\($0.anyInteger(0)) \(try Self.digest($0, 1))") }
    return found
  }

  private func check(
    _ row: SyncRow, _ envelope: SyncEnvelope, _ report: (String, String) -> Void
  ) throws {
    let asset = envelope.content.document.flatMap { try? SyncAssetEntry(parsing: $0) }
    let expected = AssetDigest(row.key.id).flatMap { digest in
      asset.map {
        "\(digest) \($0.size) \($0.location?.object.description ?? "") \($0.location?.offset ?? 0) \($0.isSuspect) "
          + "\($0.unused ?? -1)"
      }
    }
    let found = try connection.first(
      "SELECT sha256, size, object, start, suspect, unused FROM sync_asset WHERE entry = ?", .integer(row.id)
    ) { found in
      let unused = found.isNull(5) ? -1 : found.anyInteger(5)
      return "\(try Self.digest(found, 0)) \(found.anyInteger(1)) \(found.textIfAny(2) ?? "") "
        + "\(found.anyInteger(3)) \(found.flag(4)) \(unused)"
    }
    if found != expected { report("sync_asset", "\(row.key): the asset is not that of its entry") }
  }
}
