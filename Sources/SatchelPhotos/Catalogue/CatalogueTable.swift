import SatchelCore
import SatchelSync
import SatchelStorage

/// The table `photo_catalogue`.
struct CatalogueTable {
  /// A row of `photo_catalogue`.
  struct Row {
    var id: Int64
    var uuid: String
    var created: Int64
    var modified: Int64
    /// The number of the latest change.
    var sequence: Int64
    /// The declared policy.
    var onConflict: ConflictPolicy
    var remoteUUID: String?
    var user: String?
    var manifestETag: String?
    var lastSync: Int64?
  }

  let connection: Connection

  func id(_ directory: String) throws -> Int64? {
    try connection.first("SELECT id FROM photo_catalogue WHERE directory = ?", .text(directory)) {
      try $0.integer(0)
    }
  }

  func directory(of id: Int64) throws -> String? {
    try connection.first("SELECT directory FROM photo_catalogue WHERE id = ?", .integer(id)) { $0.text(0) }
  }

  func row(_ id: Int64) throws -> Row? {
    try connection.first(
      """
      SELECT id, uuid, created, modified, sequence, on_conflict, remote_uuid, user, manifest_etag, last_sync
      FROM photo_catalogue WHERE id = ?
      """, .integer(id)
    ) {
      Row(
        id: try $0.integer(0), uuid: $0.text(1), created: try $0.integer(2), modified: try $0.integer(3),
        sequence: try $0.integer(4, in: StoredRange.count),
        onConflict: try $0.integer(5, in: StoredRange.flag) == 0 ? .remoteWins : .merge,
        remoteUUID: $0.textIfAny(6), user: $0.textIfAny(7), manifestETag: $0.textIfAny(8),
        lastSync: try $0.integerIfAny(9))
    }
  }

  /// Returns the id of a directory's row; inserts the row if necessary.
  func findOrInsert(_ directory: String, now: Int64) throws -> Int64 {
    if let id = try id(directory) { return id }
    try connection.run(
      """
      INSERT INTO photo_catalogue(directory, uuid, created, modified, sequence, on_conflict)
      VALUES(?, ?, ?, ?, 0, 0)
      """, .text(directory), .text(Self.uuid()), .integer(now), .integer(now))
    return connection.lastInsertedRow
  }

  /// Allocates consecutive numbers for changes, and returns the first.
  func allocateSequence(_ id: Int64, count: Int64 = 1) throws -> Int64 {
    let sequence = try connection.number("SELECT sequence FROM photo_catalogue WHERE id = ?", .integer(id))
    guard (0...1 << 55).contains(sequence) else {
      throw SatchelError(.damaged, "photo_catalogue: \(sequence) is not the number of a change")
    }
    try connection.run(
      "UPDATE photo_catalogue SET sequence = ? WHERE id = ?", .integer(sequence + count), .integer(id))
    return sequence + 1
  }

  func setModified(_ id: Int64, now: Int64) throws {
    try connection.run("UPDATE photo_catalogue SET modified = ? WHERE id = ?", .integer(now), .integer(id))
  }

  /// Declares the policy for shards that were changed on both sides.
  func setOnConflict(_ id: Int64, _ policy: ConflictPolicy) throws {
    try connection.run(
      "UPDATE photo_catalogue SET on_conflict = ? WHERE id = ?", .integer(policy == .merge ? 1 : 0),
      .integer(id))
  }

  /// Binds the catalogue to a user and an object store, unless it is bound.
  ///
  /// - Parameter remote: the identity of the object store; nil for one that has none
  func bind(_ id: Int64, to remote: String?, user: String) throws {
    try connection.run(
      """
      UPDATE photo_catalogue SET remote = coalesce(remote, ?1), user = coalesce(user, ?2),
      owner = ?2, owner_remote = coalesce(?1, owner_remote) WHERE id = ?3
      """, remote.map { .text($0) } ?? .null, .text(user), .integer(id))
  }

  /// Records the remote's identity and the last sync.
  func setRemote(_ id: Int64, uuid: String?, user: String?, manifestETag: String?, lastSync: Int64?) throws {
    try connection.run(
      """
      UPDATE photo_catalogue SET remote_uuid = ?1, user = ?2, manifest_etag = ?3,
      last_sync = coalesce(?4, last_sync), owner = coalesce(?2, owner)
      WHERE id = ?5
      """, uuid.map { .text($0) } ?? .null, user.map { .text($0) } ?? .null,
      manifestETag.map { .text($0) } ?? .null, lastSync.map { .integer($0) } ?? .null, .integer(id))
  }

  /// The owner of the rows, also of a catalogue that was detached; nil when they were never synchronized.
  func owner(_ id: Int64) throws -> SyncOwner? {
    let owner = try connection.first(
      "SELECT coalesce(owner, user), coalesce(owner_remote, remote) FROM photo_catalogue WHERE id = ?",
      .integer(id)
    ) { row in row.textIfAny(0).map { SyncOwner(remote: row.textIfAny(1), user: $0) } }
    return owner ?? nil
  }

  /// The id of the directory that is the remote.
  func remoteID(_ id: Int64) throws -> String? {
    try connection.first("SELECT remote_id FROM photo_catalogue WHERE id = ?", .integer(id)) {
      $0.textIfAny(0)
    } ?? nil
  }

  /// Removes the owner of the rows.
  func disown(_ id: Int64) throws {
    try connection.run(
      "UPDATE photo_catalogue SET owner = NULL, owner_remote = NULL WHERE id = ?", .integer(id))
  }

  /// Removes the remote's identity; the owner stays.
  func detach(_ id: Int64) throws {
    try connection.run(
      """
      UPDATE photo_catalogue SET remote_uuid = NULL, user = NULL, manifest_etag = NULL, last_sync = NULL,
      remote = NULL, remote_id = NULL
      WHERE id = ?
      """, .integer(id))
  }

  /// Returns a random UUID (version 4 of RFC 9562), in lower case.
  static func uuid() -> String {
    let (high, low) = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    let words = [high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000, low & 0x3FFF_FFFF_FFFF_FFFF | 1 << 63]
    let digits = Array(MD5(high: words[0], low: words[1]).description)
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }
}
