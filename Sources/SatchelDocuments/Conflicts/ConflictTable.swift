import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// Reads and writes the conflicts of records.
struct ConflictTable {
  let connection: Connection

  /// Stores both versions of a record of which one is discarded.
  func noteLost(
    _ side: ConflictSide, _ key: String, in collection: Int64, _ conflict: Versions, time: Int64
  ) throws {
    try insert("lost", key, collection, conflict, nil, nil, time, side)
  }

  /// Stores both versions until the host decides.
  func open(_ key: String, in collection: Int64, _ conflict: Versions, time: Int64) throws {
    try insert("open", key, collection, conflict, nil, nil, time)
  }

  /// Stores the reason why a remote version is not applied.
  ///
  /// - Parameter key: of the record that it waits for, "collection/id"; nil for none
  func wait(
    _ key: String, in collection: Int64, _ conflict: Versions, _ error: SatchelError, for other: String?,
    time: Int64
  ) throws {
    try insert("waiting", key, collection, conflict, error, other, time)
  }

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

    func stored(_ version: [UInt8]?, _ key: String, _ collection: Int64) -> [UInt8]? {
      switch self {
      case .plain: version
      case .sealed(let encryption):
        version.map { SealedValue.seal($0, by: encryption, at: ConflictTable.location(key, collection)) }
      case .withheld: nil
      }
    }
  }

  private static func location(_ key: String, _ collection: Int64) -> String {
    "conflict/\(collection)/\(key)"
  }

  /// Returns a stored version, opened; JSON and sealed content differ in their first byte.
  ///
  /// - Throws: `.unauthorized` when the key is not set, `.damaged`
  static func opened(
    _ version: [UInt8], _ key: String, _ collection: Int64, _ keys: Keyring.Keys
  ) throws -> [UInt8] {
    guard version.first == SealedValue.format else { return version }
    return try SealedValue.open(version, by: keys, at: location(key, collection))
  }

  /// Calls `body` with bindings of versions.
  static func with(
    _ local: [UInt8]?, _ remote: [UInt8]?, _ base: [UInt8]?,
    _ body: (Binding, Binding, Binding) throws -> Void
  ) throws {
    try (local ?? []).withUnsafeBytes { localBytes in
      try (remote ?? []).withUnsafeBytes { remoteBytes in
        try (base ?? []).withUnsafeBytes { baseBytes in
          try body(
            local == nil ? .null : .blob(localBytes), remote == nil ? .null : .blob(remoteBytes),
            base == nil ? .null : .blob(baseBytes))
        }
      }
    }
  }

  private func insert(
    _ kind: String, _ key: String, _ collection: Int64, _ versions: Versions, _ error: SatchelError?,
    _ other: String?, _ time: Int64, _ side: ConflictSide? = nil
  ) throws {
    let sealing = versions.sealing
    try Self.with(
      sealing.stored(versions.local.map { $0.json }, key, collection),
      sealing.stored(versions.remote, key, collection), sealing.stored(versions.base, key, collection)
    ) { local, remote, base in
      try connection.run(
        """
        INSERT INTO record_conflict(collection, key, kind, time, local, remote, base, code, reason, waits_for,
        side) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, .integer(collection), .text(key), .text(kind), .integer(time), local, remote, base,
        error.map { .integer(Int64($0.code.rawValue)) } ?? .null, error.map { .text($0.message) } ?? .null,
        other.map { .text($0) } ?? .null, side.map { .text($0.rawValue) } ?? .null)
    }
  }

  /// Ends the open and waiting conflicts of a record, before a new decision about it.
  func end(_ key: String, in collection: Int64) throws {
    try connection.run(
      "DELETE FROM record_conflict WHERE collection = ? AND key = ? AND kind <> 'lost'",
      .integer(collection), .text(key))
  }

  /// Ends the open and waiting conflicts of a record whose entry the remote has lost. Their remote versions are kept
  /// as lost ones.
  func endKeeping(_ key: String, in collection: Int64) throws {
    try connection.run(
      """
      UPDATE record_conflict SET kind = 'lost', side = ?, code = NULL, reason = NULL, waits_for = NULL
      WHERE collection = ? AND key = ? AND kind <> 'lost' AND remote IS NOT NULL
      """, .text(ConflictSide.remote.rawValue), .integer(collection), .text(key))
    try end(key, in: collection)
  }

  /// Deletes open and waiting conflicts: the store is no longer synchronized.
  func endAll() throws { try connection.run("DELETE FROM record_conflict WHERE kind <> 'lost'") }

  /// Whether there is any open or waiting conflict.
  func hasUndecided() throws -> Bool {
    try connection.number("SELECT EXISTS(SELECT 1 FROM record_conflict WHERE kind <> 'lost')") > 0
  }

  func hasWaiting() throws -> Bool {
    try connection.number("SELECT EXISTS(SELECT 1 FROM record_conflict WHERE kind = 'waiting')") > 0
  }

  /// The records that wait for a change of another one.
  func waiting(for other: String) throws -> [(collection: Int64, key: String)] {
    var found: [(collection: Int64, key: String)] = []
    try connection.each(
      "SELECT collection, key FROM record_conflict WHERE waits_for = ? AND kind = 'waiting'", .text(other)
    ) { found.append((try $0.integer(0, in: RecordRow.collections), $0.text(1))) }
    return found
  }

  /// The records that a change of a collection's declaration may concern: its own, and those that wait for one of
  /// its records.
  func waiting(forCollection name: String, _ id: Int64) throws -> [(collection: Int64, key: String)] {
    var found: [(collection: Int64, key: String)] = []
    try connection.each(
      """
      SELECT collection, key FROM record_conflict WHERE kind = 'waiting'
      AND (collection = ?1 OR substr(waits_for, 1, length(?2)) = ?2)
      """, .integer(id), .text(name + "/")
    ) { found.append((try $0.integer(0, in: RecordRow.collections), $0.text(1))) }
    return found
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
