import SatchelCore

import SatchelStorage

extension AssetTable {
  /// Returns why an owner may not refer to what it is about to: to an asset that is neither here, nor in the remote, nor
  /// has a URL, unless it has referred to it before; or with a size that is not that of the bytes.
  ///
  /// - Returns: the pointer and the reason; nil when it may
  package func problem(
    with references: AssetReferences, of owner: AssetOwner?
  ) throws -> (pointer: String, reason: String)? {
    let before = try owner.map { try self.references(of: $0) } ?? []
    for (pointer, asset) in references.found {
      guard let digest = asset.digest else { continue }
      let known = try row(digest)
      if let size = asset.size, let actual = known?.size, size != actual {
        return ("\(pointer)/_asset/size", "the asset has \(actual) bytes, not \(size)")
      }
      guard asset.url == nil, try state(known, digest) == .missing else { continue }
      if let known, before.contains(where: { $0.asset == known.id }) { continue }
      return (
        "\(pointer)/_asset/sha256",
        "the store does not have these bytes, and no URL is given; put them with assets.put first"
      )
    }
    return nil
  }

  /// Records what an owner refers to, in the transaction that writes it.
  package func setReferences(of owner: AssetOwner, to references: AssetReferences, now: Int64) throws {
    let before = try self.references(of: owner)
    var after: Set<Reference> = []
    for (_, asset) in references.found {
      after.insert(
        Reference(
          asset: try asset.digest.map { try made($0, size: asset.size, now: now).id } ?? 0,
          source: try asset.url.map { try source($0) } ?? 0))
    }
    for reference in before where !after.contains(reference) { try remove(reference, of: owner, now: now) }
    for reference in after where !before.contains(reference) {
      try connection.run(
        "INSERT INTO asset_reference(subject, owner, asset, source) VALUES(?, ?, ?, ?)",
        .integer(owner.subject.rawValue), .integer(owner.row), .integer(reference.asset),
        .integer(reference.source))
    }
  }

  /// Whether all of an owner's references are recorded.
  package func has(_ references: AssetReferences, of owner: AssetOwner) throws -> Bool {
    let known = try self.references(of: owner)
    return try references.found.allSatisfy { _, asset in
      let id = try asset.digest.map { try row($0)?.id ?? -1 } ?? 0
      let source = try asset.url.map { try knownSource($0) ?? -1 } ?? 0
      return known.contains(Reference(asset: id, source: source))
    }
  }

  /// Removes what an owner refers to, in the transaction that deletes it.
  package func removeReferences(of owner: AssetOwner, now: Int64) throws {
    for reference in try references(of: owner) { try remove(reference, of: owner, now: now) }
  }

  /// Removes what a range of owners refers to, in the transaction that deletes them.
  package func removeReferences(
    of subject: AssetOwner.Subject, rows: ClosedRange<Int64> = .min ... .max, now: Int64
  ) throws {
    // The hour after a drop begins for all of them.
    try connection.run(
      """
      UPDATE asset SET used_at = max(used_at, ?4) WHERE id IN (SELECT asset FROM asset_reference
      WHERE subject = ?1 AND owner BETWEEN ?2 AND ?3 AND asset > 0)
      """, .integer(subject.rawValue), .integer(rows.lowerBound), .integer(rows.upperBound), .integer(now))
    try connection.run(
      "DELETE FROM asset_reference WHERE subject = ? AND owner BETWEEN ? AND ?", .integer(subject.rawValue),
      .integer(rows.lowerBound), .integer(rows.upperBound))
  }

  /// The tables whose rows are owners. A reference of a row that does not exist any more counts for nothing.
  static let owners: [(table: String, column: String, subject: AssetOwner.Subject)] = [
    ("entity_content", "entity", .entity), ("section_content", "section", .section),
    ("record", "id", .record),
    ("conflict", "id", .conflict), ("story_file", "id", .story),
  ]

  /// Removes the references of owners that do not exist any more: the catalogue and the conflict log remove rows without
  /// their references.
  package func removeStaleReferences() throws {
    for owner in Self.owners {
      let exists =
        try connection.number(
          "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(owner.table)) > 0
      let condition = exists ? "AND owner NOT IN (SELECT \(owner.column) FROM \(owner.table))" : ""
      try connection.execute(
        "DELETE FROM asset_reference WHERE subject = \(owner.subject.rawValue) \(condition)")
    }
  }

  private struct Reference: Hashable {
    var asset: Int64
    var source: Int64
  }

  private func references(of owner: AssetOwner) throws -> Set<Reference> {
    guard exists else { return [] }
    var found: Set<Reference> = []
    try connection.each(
      "SELECT asset, source FROM asset_reference WHERE subject = ? AND owner = ?",
      .integer(owner.subject.rawValue), .integer(owner.row)
    ) { found.insert(Reference(asset: try $0.integer(0), source: try $0.integer(1))) }
    return found
  }

  private func remove(_ reference: Reference, of owner: AssetOwner, now: Int64) throws {
    try connection.run(
      "DELETE FROM asset_reference WHERE subject = ? AND owner = ? AND asset = ? AND source = ?",
      .integer(owner.subject.rawValue), .integer(owner.row), .integer(reference.asset),
      .integer(reference.source))
    if reference.asset > 0 { try use(reference.asset, now: now) }
  }
}

/// Where the bytes of an asset are.
public enum AssetState: String, Sendable, CaseIterable {
  /// In the store: it is read at once, and offline.
  case here
  /// In the remote, or at a URL: `fetch` gets it.
  case remote
  /// No device and no server is known to have it.
  case missing
}

extension AssetTable {
  /// Returns the state of an asset by its row.
  func state(_ row: Row?, _ digest: AssetDigest) throws -> AssetState {
    if let row, row.place != .absent { return .here }
    if let row, try hasURL(row.id) { return .remote }
    return try isInRemote(digest) ? .remote : .missing
  }

  /// Whether an object of the sync log has the bytes; see `SyncAssetTables`.
  private func isInRemote(_ digest: AssetDigest) throws -> Bool {
    guard try Self.has(table: "sync_asset", connection) else { return false }
    return try digest.bytes.withUnsafeBytes {
      try connection.number(
        """
        SELECT EXISTS(SELECT 1 FROM sync_asset WHERE generation = (SELECT generation FROM sync_log)
        AND sha256 = ? AND object IS NOT NULL)
        """, .blob($0))
    } == 1
  }

  static func has(table: String, _ connection: Connection) throws -> Bool {
    try connection.number(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(table)) > 0
  }

  /// Whether a URL leads, or has led, to an asset.
  private func hasURL(_ id: Int64) throws -> Bool {
    try connection.number(
      """
      SELECT EXISTS(SELECT 1 FROM asset_source WHERE asset = ?1)
      OR EXISTS(SELECT 1 FROM asset_reference WHERE asset = ?1 AND source > 0)
      """, .integer(id)) == 1
  }

  package func state(_ asset: Asset) throws -> AssetState {
    let found = try find(asset)
    guard let digest = asset.digest ?? found?.digest else { return asset.url == nil ? .missing : .remote }
    let state = try state(found?.row, digest)
    return state == .missing && asset.url != nil ? .remote : state
  }
}
