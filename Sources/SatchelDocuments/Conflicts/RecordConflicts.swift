import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// The versions of records in the conflict log.
struct RecordConflicts {
  let log: ConflictLog

  init(_ connection: Connection) { log = ConflictLog(connection) }

  /// The versions of a record that a conflict is about.
  struct Versions {
    /// Nil when there never was a record.
    var local: SyncContent?
    /// Envelopes.
    var remote: [UInt8]?
    var base: [UInt8]?
    var sealing = Sealing.plain
  }

  /// The storage of versions.
  enum Sealing {
    case plain
    case sealed(EncryptionKey)
    /// They are not stored: they have sensitive fields, and the key is not set.
    case withheld

    fileprivate func stored(_ version: [UInt8]?, _ row: ConflictLog.Row) -> [UInt8]? {
      switch self {
      case .plain: version
      case .sealed(let key): version.map { SealedValue.seal($0, by: key, at: row.location) }
      case .withheld: nil
      }
    }
  }

  /// Stores both versions of a record of which one is discarded.
  func noteLost(
    _ side: ConflictSide, _ key: String, in collection: Int64, versions: Versions, time: Int64
  ) throws {
    var row = row(key, in: collection, versions, time: time)
    row.side = side
    try add(row, versions)
  }

  /// Stores both versions until the host decides.
  func open(_ key: String, in collection: Int64, _ versions: Versions, time: Int64) throws {
    var row = row(key, in: collection, versions, time: time)
    row.kind = .open
    try add(row, versions)
  }

  /// Stores the reason why a remote version is not applied.
  ///
  /// - Parameter other: the record that it waits for, "collection/id"; nil for none
  func wait(
    _ key: String, in collection: Int64, _ versions: Versions, because error: SatchelError,
    for other: String?,
    time: Int64
  ) throws {
    var row = row(key, in: collection, versions, time: time)
    (row.kind, row.code, row.reason, row.waitsFor) = (.waiting, error.code, error.message, other)
    try add(row, versions)
  }

  /// Adds a conflict, and records what its versions refer to: their bytes are not evicted.
  private func add(_ row: ConflictLog.Row, _ versions: Versions) throws {
    try log.add(row)
    let kept = [versions.local?.document, versions.remote, versions.base].compactMap { $0 }
    guard kept.contains(where: { $0.withUnsafeBytes { AssetReferences.mayContain($0) } }),
      try AssetTable.exists(in: log.connection)
    else { return }
    let owner = AssetOwner(.conflict, log.connection.lastInsertedRow)
    var all = AssetReferences()
    for version in kept { try version.withUnsafeBytes { all.add(try AssetReferences(in: $0)) } }
    try AssetTable(log.connection).setReferences(of: owner, to: all, now: row.time)
  }

  private func row(_ key: String, in collection: Int64, _ versions: Versions, time: Int64) -> ConflictLog.Row
  {
    var row = ConflictLog.Row(ConflictLog.Owner(.records, collection), key, time: time)
    row.local = versions.sealing.stored(versions.local.map { $0.json }, row)
    row.remote = versions.sealing.stored(versions.remote, row)
    row.base = versions.sealing.stored(versions.base, row)
    return row
  }

  /// Seals the versions of a collection's conflicts again.
  ///
  /// - Throws: `.unauthorized` when the key that they are sealed with is not known, `.damaged`
  func seal(_ collection: Int64, as sealing: Sealing, opening keys: Keyring.Keys) throws {
    for var row in try log.rows(of: ConflictLog.Owner(.records, collection), after: 0, limit: .max) {
      row.local = sealing.stored(try row.local.map { try row.opened($0, keys) }, row)
      row.remote = sealing.stored(try row.remote.map { try row.opened($0, keys) }, row)
      row.base = sealing.stored(try row.base.map { try row.opened($0, keys) }, row)
      try log.update(row)
    }
  }
}

extension ConflictLog.Row {
  fileprivate var location: String { "conflict/\(owner.id)/\(key)" }

  /// Returns a version, opened if it is sealed: JSON and sealed content differ in their first byte.
  ///
  /// - Throws: `.unauthorized` when the key is not set, `.damaged`
  func opened(_ version: [UInt8], _ keys: Keyring.Keys) throws -> [UInt8] {
    guard version.first == SealedValue.format else { return version }
    return try SealedValue.open(version, by: keys, at: location)
  }
}

extension SyncContent {
  /// The JSON form in which a conflict stores it: {"revision", "created", "modified", "document"}, with null for
  /// the document of a deletion.
  fileprivate var json: [UInt8] {
    var bytes = Array(
      #"{"revision":\#(revision),"created":\#(created),"modified":\#(modified),"document":"#.utf8)
    bytes += document ?? Array("null".utf8)
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}
