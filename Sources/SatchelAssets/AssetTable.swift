import SatchelCore
import SatchelStorage

/// Reads and writes the rows of assets.
package struct AssetTable {
  let connection: Connection
  /// Whether the store has the tables.
  let exists: Bool

  /// - Parameter connection: of a store that has the tables
  package init(_ connection: Connection) { (self.connection, exists) = (connection, true) }

  /// The table of a store that has no assets yet.
  package init(absentFrom connection: Connection) { (self.connection, exists) = (connection, false) }

  /// Whether a store has tables of assets, for those that have only a connection.
  package static func exists(in connection: Connection) throws -> Bool {
    try connection.has(table: "asset_reference")
  }

  /// Where the bytes of an asset are.
  package enum Place: Int64, Sendable {
    case absent, row, file
  }

  /// A row of `asset`.
  package struct Row: Sendable {
    package var id: Int64
    package var size: Int64?
    package var place: Place
    package var usedAt: Int64
    /// How the bytes are sealed; nil when they are not.
    package var seal: StoredSeal?

    /// The name of the file.
    func file(_ digest: AssetDigest) -> AssetDigest { seal?.name ?? digest }
  }

  package func row(_ digest: AssetDigest) throws -> Row? {
    guard exists else { return nil }
    return try digest.bytes.withUnsafeBytes {
      try connection.first(
        """
        SELECT id, size, place, used_at, name, key FROM asset LEFT JOIN asset_seal ON asset = id WHERE sha256 = ?
        """, .blob($0), read: Self.read)
    }
  }

  package func row(_ id: Int64) throws -> Row? {
    try connection.first(
      "SELECT id, size, place, used_at, name, key FROM asset LEFT JOIN asset_seal ON asset = id WHERE id = ?",
      .integer(id), read: Self.read)
  }

  /// The names of the files of the assets that are files, with their rows.
  func files() throws -> [(id: Int64, name: AssetDigest)] {
    var files: [(Int64, AssetDigest)] = []
    try connection.each(
      "SELECT id, ifnull(name, sha256) FROM asset LEFT JOIN asset_seal ON asset = id WHERE place = 2"
    ) { if let name = AssetDigest(Array($0.bytes(1))) { files.append((try $0.integer(0), name)) } }
    return files
  }

  /// Reads the columns id, size, place, used_at, name, key.
  static func read(_ row: Statement) throws -> Row {
    Row(
      id: try row.integer(0, in: AssetSchema.ids), size: try row.integerIfAny(1, in: AssetSchema.sizes),
      place: Place(rawValue: try row.integer(2, in: 0...2)) ?? .absent,
      usedAt: try row.integer(3, in: StoredRange.time), seal: try seal(row))
  }

  private static func seal(_ row: Statement) throws -> StoredSeal? {
    if row.isNull(4) { return nil }
    guard let name = AssetDigest(Array(row.bytes(4))) else {
      throw row.damage(4, "is not the name of a file")
    }
    return StoredSeal(name: name, key: Array(row.bytes(5)))
  }

  package func digest(_ id: Int64) throws -> AssetDigest? {
    try connection.first("SELECT sha256 FROM asset WHERE id = ?", .integer(id)) {
      AssetDigest(Array($0.bytes(0)))
    }
      ?? nil
  }

  /// Returns the row of an asset, which is inserted without bytes if it does not exist.
  func made(_ digest: AssetDigest, size: Int64?, now: Int64) throws -> Row {
    if let row = try row(digest) { return row }
    try digest.bytes.withUnsafeBytes {
      try connection.run(
        "INSERT INTO asset(sha256, size, place, used_at) VALUES(?, ?, 0, ?)", .blob($0),
        Binding(size), .integer(now))
    }
    return Row(id: connection.lastInsertedRow, size: size, place: .absent, usedAt: now)
  }

  func use(_ id: Int64, now: Int64) throws {
    try connection.run(
      "UPDATE asset SET used_at = ?2 WHERE id = ?1 AND used_at < ?2", .integer(id), .integer(now))
  }

  /// Records that the bytes of an asset are here.
  func setPlace(_ place: Place, of id: Int64, size: Int64, now: Int64) throws {
    try connection.run(
      "UPDATE asset SET place = ?, size = ?, used_at = ? WHERE id = ?", .integer(place.rawValue),
      .integer(size),
      .integer(now), .integer(id))
  }

  /// Returns the bytes of a small asset.
  func bytes(_ id: Int64) throws -> [UInt8]? {
    try connection.first("SELECT bytes FROM asset_bytes WHERE asset = ?", .integer(id)) { Array($0.bytes(0)) }
  }

  func insert(_ bytes: UnsafeRawBufferPointer, of id: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO asset_bytes(asset, bytes) VALUES(?, ?)", .integer(id), .blob(bytes))
  }

  /// Removes the bytes of an asset from the store. A file is deleted later, by `AssetGarbage`.
  func removeBytes(_ row: Row, _ digest: AssetDigest) throws {
    switch row.place {
    case .absent: return
    case .row: try connection.run("DELETE FROM asset_bytes WHERE asset = ?", .integer(row.id))
    case .file: try AssetGarbage(connection).add(row.file(digest))
    }
    try connection.run("UPDATE asset SET place = 0 WHERE id = ?", .integer(row.id))
  }

  /// Removes an asset to which nothing refers, with its variants' names.
  func remove(_ id: Int64) throws {
    try connection.run("UPDATE asset_source SET asset = NULL, etag = NULL WHERE asset = ?", .integer(id))
    try connection.run(
      "DELETE FROM asset_variant WHERE origin = (SELECT sha256 FROM asset WHERE id = ?)", .integer(id))
    try connection.run("DELETE FROM asset_variant WHERE variant = ?", .integer(id))
    try connection.run("DELETE FROM asset_seal WHERE asset = ?", .integer(id))
    try removeTransfer(of: id)
    try connection.run("DELETE FROM asset WHERE id = ?", .integer(id))
  }

  // MARK: URLs

  /// Returns the row of a URL, which is inserted if it does not exist.
  func source(_ url: String) throws -> Int64 {
    if let id = try knownSource(url) { return id }
    try connection.run("INSERT INTO asset_source(url, attempts) VALUES(?, 0)", .text(url))
    return connection.lastInsertedRow
  }

  func knownSource(_ url: String) throws -> Int64? {
    try connection.numberIfAny("SELECT id FROM asset_source WHERE url = ?", .text(url))
  }

  /// Returns the asset that a URL turned out to be.
  package func row(fetchedFrom url: String) throws -> (row: Row, digest: AssetDigest)? {
    guard
      let id = try connection.numberIfAny(
        "SELECT asset FROM asset_source WHERE url = ? AND asset IS NOT NULL", .text(url)),
      let row = try row(id), let digest = try digest(id)
    else { return nil }
    return (row, digest)
  }

  /// Returns the row and the digest of an asset: by its SHA-256, otherwise by what its URL turned out to be.
  package func find(_ asset: Asset) throws -> (row: Row, digest: AssetDigest)? {
    if let digest = asset.digest { return try row(digest).map { ($0, digest) } }
    return try asset.url.flatMap { try row(fetchedFrom: $0) }
  }
}

/// The files that are to be deleted; see `AssetFolder`.
struct AssetGarbage {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func add(_ digest: AssetDigest) throws {
    try digest.bytes.withUnsafeBytes {
      try connection.run("INSERT INTO asset_garbage(name) VALUES(?)", .blob($0))
    }
  }

  /// Keeps a file: it was put again.
  func remove(_ digest: AssetDigest) throws {
    try digest.bytes.withUnsafeBytes {
      try connection.run("DELETE FROM asset_garbage WHERE name = ?", .blob($0))
    }
  }

  var newest: Int64 {
    get throws { try connection.number("SELECT ifnull(max(number), 0) FROM asset_garbage") }
  }

  /// Returns the files up to a number, without those that were put again.
  func files(through number: Int64) throws -> [(number: Int64, digest: AssetDigest)] {
    var found: [(Int64, AssetDigest)] = []
    try connection.each(
      """
      SELECT number, name FROM asset_garbage g WHERE number <= ?
      AND NOT EXISTS(SELECT 1 FROM asset a WHERE sha256 = g.name AND place = 2
      AND NOT EXISTS(SELECT 1 FROM asset_seal WHERE asset = a.id))
      AND NOT EXISTS(SELECT 1 FROM asset_seal s JOIN asset a ON a.id = s.asset WHERE s.name = g.name AND place = 2)
      """, .integer(number)
    ) { row in
      if let digest = AssetDigest(Array(row.bytes(1))) { found.append((try row.integer(0), digest)) }
    }
    return found
  }

  func removeAll(through number: Int64) throws {
    try connection.run("DELETE FROM asset_garbage WHERE number <= ?", .integer(number))
  }
}
