import SatchelCore
import SatchelJSON
import SatchelStorage

/// The findings of a verification of the assets.
public struct AssetVerifyReport: Equatable, Sendable, JSONConvertible {
  /// The assets whose bytes were looked at.
  public var checked = 0
  /// The SHA-256 of those whose file is lost.
  public var lost: [String] = []
  /// The SHA-256 of those that have other bytes or another size.
  public var damaged: [String] = []
  /// The files that no asset names; an unclean end may leave them.
  public var orphans = 0

  public var json: JSONValue {
    [
      "checked": .int(Int64(checked)), "lost": .array(lost.map { .string($0) }),
      "damaged": .array(damaged.map { .string($0) }), "orphans": .int(Int64(orphans)),
    ]
  }
}

extension AssetStore {
  /// Checks that the bytes of all assets are there, and marks those that are not as `missing` or `remote`, so that they
  /// are fetched again where that is possible. Files without an asset are deleted.
  ///
  /// - Parameters:
  ///   - deep: whether all bytes are read and hashed
  ///   - progress: called with the numbers of checked and of all assets; returns false to cancel
  /// - Throws: `SatchelError` `.cancelled`, `.invalid` in a transaction, `.io`, `.closed`
  @discardableResult
  public func verify(deep: Bool = true, progress: BackupProgress = { _, _ in true }) throws
    -> AssetVerifyReport
  {
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "\(database.path): assets cannot be verified in a transaction")
    }
    var report = AssetVerifyReport()
    for (digest, finding) in try findings(deep: deep, checked: &report.checked, progress: progress) {
      if finding == .lost { report.lost.append(digest.text) } else { report.damaged.append(digest.text) }
      if !database.options.isReadOnly { try mark(digest, deep: deep) }
    }
    report.orphans = try sweep()
    return report
  }

  private enum Finding { case lost, damaged }

  private func findings(
    deep: Bool, checked: inout Int, progress: BackupProgress
  ) throws -> [(AssetDigest, Finding)] {
    let all: [AssetDigest] =
      try read { table in
        var all: [AssetDigest] = []
        try table.connection.each("SELECT sha256 FROM asset WHERE place > 0 ORDER BY sha256") {
          if let digest = AssetDigest(Array($0.bytes(0))) { all.append(digest) }
        }
        return all
      } ?? []
    var found: [(AssetDigest, Finding)] = []
    for digest in all {
      guard HostWork.calling("a progress callback", for: work, { progress(checked, all.count) }) else {
        throw SatchelError(.cancelled, "\(database.path): cancelled by the caller")
      }
      if let finding = try finding(digest, deep: deep) { found.append((digest, finding)) }
      checked += 1
    }
    return found
  }

  private func finding(_ digest: AssetDigest, deep: Bool) throws -> Finding? {
    guard let row = try read({ try $0.row(digest) }) ?? nil, row.place != .absent else { return nil }
    do {
      // Without the key of a sensitive asset, only what is stored can be looked at.
      let seal = try row.seal.flatMap { try openable($0, digest, size: row.size ?? 0) }
      guard let reader = try open(row, digest, seal) else { return nil }
      if deep, row.seal == nil || seal != nil { try reader.verify() }
      return nil
    } catch let error as SatchelError where error.code == .damaged || error.code == .invalid {
      return row.place == .row || access(folder.path(of: row.file(digest)), F_OK) == 0 ? .damaged : .lost
    } catch let error as SatchelError where error.code == .notFound {
      // Removed meanwhile.
      return nil
    }
  }

  /// - Returns: nil when the key of the store is not set
  private func openable(_ seal: StoredSeal, _ digest: AssetDigest, size: Int64) throws -> AssetSeal? {
    do { return try seal.opened(digest, size: size, by: database.keyring.keys) } catch let error
      as SatchelError
      where error.code == .unauthorized
    { return nil }
  }

  /// Marks an asset as absent, after a second look in a transaction.
  package func mark(_ digest: AssetDigest, deep: Bool) throws {
    try write { table, transaction in
      guard let row = try table.row(digest), row.place != .absent,
        try finding(digest, deep: deep) != nil
      else { return }
      try table.removeBytes(row, digest)
    }
  }

  /// Checks the invariants of the rows and the presence of the files; used by the check of a store.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(AssetSchema.subject) else { return [] }
    let store = AssetStore(database)
    var findings = try database.read { try $0.findings(of: AssetRules.all) }
    var checked = 0
    for (digest, finding) in try store.findings(deep: false, checked: &checked, progress: { _, _ in true }) {
      let reason = finding == .lost ? "its file is lost" : "its file has another size"
      findings.append(
        StoreFinding(
          code: "asset",
          message: "asset \(digest): \(reason); assets.verify marks it as missing"))
    }
    return findings
  }

  /// Repairs the rows after others were lost, and takes files that are there as the assets that they are. References are
  /// rebuilt by the subjects that have them.
  package static func repair(_ database: Database) throws {
    guard try database.has(AssetSchema.subject) else { return }
    let store = AssetStore(database)
    try database.write { transaction in
      try transaction.connection.mend(AssetRules.all)
      try transaction.connection.run("DELETE FROM asset_garbage")
    }
    try store.adoptFiles()
  }

  /// Makes the rows agree with the files: a file whose bytes have its name is an asset that is here.
  package func adoptFiles() throws {
    guard !database.isMemory, folder.exists else { return }
    try write { table, transaction in
      try table.connection.run(
        "UPDATE asset SET place = 0 WHERE place = 2 OR place = 1 AND id NOT IN (SELECT asset FROM asset_bytes)"
      )
      try folder.each { name in
        if let row = try table.sealedAsset(inFile: name), let size = row.size {
          if try row.place == .absent && folder.open(name).status().st_size == StoredSeal.size(of: size) {
            try table.setPlace(.file, of: row.id, size: size, now: transaction.now)
          }
          return
        }
        guard let size = try? size(ofFile: name) else { return }
        let row = try table.made(name, size: size, now: transaction.now)
        // Of a sensitive asset, this is what it was before.
        guard row.place == .absent, row.seal == nil else { return }
        try table.setPlace(.file, of: row.id, size: size, now: transaction.now)
      }
    }
  }

  /// - Returns: nil for a file whose bytes do not have its name
  private func size(ofFile digest: AssetDigest) throws -> Int64? {
    let file = try folder.open(digest)
    let size = Int64(try file.status().st_size)
    let reader = try AssetReader(folder, digest, digest, size: size, nil)
    try reader.verify()
    return size
  }
}

/// The rules of the tables of assets.
enum AssetRules {
  static let all = [
    Invariant(
      "asset", counted: "% assets are said to be rows, but their bytes are not here",
      offenders: """
        SELECT 1 FROM asset a WHERE place = 1
        AND ifnull((SELECT length(bytes) FROM asset_bytes WHERE asset = a.id), -1)
        <> ifnull(size + CASE WHEN id IN (SELECT asset FROM asset_seal) THEN 16 * max((size + 65535) / 65536, 1)
        ELSE 0 END, -2)
        """,
      mending: """
        UPDATE asset SET place = 0 WHERE place = 1
        AND ifnull((SELECT length(bytes) FROM asset_bytes WHERE asset = asset.id), -1)
        <> ifnull(size + CASE WHEN id IN (SELECT asset FROM asset_seal) THEN 16 * max((size + 65535) / 65536, 1)
        ELSE 0 END, -2)
        """),
    Invariant(
      "asset", counted: "% assets have an invalid SHA-256, or no size",
      offenders: "SELECT 1 FROM asset WHERE length(sha256) <> 32 OR place > 0 AND size IS NULL",
      mending: "DELETE FROM asset WHERE length(sha256) <> 32; UPDATE asset SET place = 0 WHERE size IS NULL"),
    Invariant(
      "asset_bytes", counted: "% rows of bytes belong to no asset",
      offenders: """
        SELECT 1 FROM asset_bytes WHERE asset NOT IN (SELECT id FROM asset WHERE place = 1)
        """,
      mending: "DELETE FROM asset_bytes WHERE asset NOT IN (SELECT id FROM asset WHERE place = 1)"),
    Invariant(
      "asset_seal", counted: "% keys are of assets that the store does not know, or name no file",
      offenders: """
        SELECT 1 FROM asset_seal WHERE asset NOT IN (SELECT id FROM asset) OR length(name) <> 32 OR length(key) <> 69
        """,
      mending: """
        DELETE FROM asset_seal WHERE asset NOT IN (SELECT id FROM asset) OR length(name) <> 32 OR length(key) <> 69
        """),
    Invariant(
      "asset_reference", counted: "% references are to assets or URLs that the store does not know",
      offenders: """
        SELECT 1 FROM asset_reference WHERE asset > 0 AND asset NOT IN (SELECT id FROM asset)
        OR source > 0 AND source NOT IN (SELECT id FROM asset_source) OR asset = 0 AND source = 0
        """,
      mending: """
        DELETE FROM asset_reference WHERE asset > 0 AND asset NOT IN (SELECT id FROM asset)
        OR source > 0 AND source NOT IN (SELECT id FROM asset_source) OR asset = 0 AND source = 0
        """),
    Invariant(
      "asset_source", counted: "% URLs lead to assets that the store does not know",
      offenders: "SELECT 1 FROM asset_source WHERE asset IS NOT NULL AND asset NOT IN (SELECT id FROM asset)",
      mending: """
        UPDATE asset_source SET asset = NULL, etag = NULL
        WHERE asset IS NOT NULL AND asset NOT IN (SELECT id FROM asset)
        """),
    Invariant(
      "asset_transfer", counted: "% interrupted downloads are of assets that the store does not know",
      offenders: """
        SELECT 1 FROM asset_transfer WHERE asset NOT IN (SELECT id FROM asset UNION ALL SELECT -id FROM asset_source)
        """,
      mending: """
        DELETE FROM asset_transfer WHERE asset NOT IN (SELECT id FROM asset UNION ALL SELECT -id FROM asset_source)
        """),
    Invariant(
      "asset_variant", counted: "% variants are of assets that the store does not know",
      offenders: """
        SELECT 1 FROM asset_variant WHERE variant NOT IN (SELECT id FROM asset)
        OR length(origin) <> 16 AND origin NOT IN (SELECT sha256 FROM asset)
        """,
      mending: """
        DELETE FROM asset_variant WHERE variant NOT IN (SELECT id FROM asset)
        OR length(origin) <> 16 AND origin NOT IN (SELECT sha256 FROM asset)
        """),
  ]
}
