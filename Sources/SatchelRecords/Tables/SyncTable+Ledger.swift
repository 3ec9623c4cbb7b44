import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

extension SyncTable {
  // MARK: Sync identity

  /// Returns the sync identity of the collection; nil when it is not synchronized.
  func syncIdentity() throws -> JSONValue? {
    try connection.first("SELECT sync FROM record_collection WHERE id = ?", .integer(collection)) {
      $0.isNull(0) ? nil : try JSONValue(parsing: $0.bytes(0))
    } ?? nil
  }

  /// Returns the store's name among the writers that share records; nil before its first sync.
  static func writer(_ connection: Connection) throws -> String? {
    try connection.first("SELECT writer FROM record_writer") { $0.text(0) }
  }

  static func makeWriter(_ connection: Connection) throws {
    guard try writer(connection) == nil else { return }
    var name = ""
    for (position, byte) in (0..<16).map({ _ in UInt8.random(in: 0...255) }).enumerated() {
      if [4, 6, 8, 10].contains(position) { name += "-" }
      // The version and variant of a random UUID.
      let byte = position == 6 ? byte & 0x0F | 0x40 : position == 8 ? byte & 0x3F | 0x80 : byte
      name += [byte].hexadecimal
    }
    try connection.run("INSERT INTO record_writer(id, writer) VALUES(1, ?)", .text(name))
  }

  /// Starts recording changes; existing records become pending.
  func begin(user: String, time: Int64) throws {
    try setSyncIdentity(["user": .string(user), "begun": .int(time)])
    try markUnknownPending()
  }

  /// Makes every record without sync metadata pending.
  func markUnknownPending() throws {
    try connection.run(
      """
      INSERT OR IGNORE INTO record_sync(collection, key, pending, attempts)
      SELECT ?1, key, 0, 0 FROM record WHERE id > ?1 << 40 AND id < (?1 + 1) << 40
      """, .integer(collection))
  }

  func finish(isComplete: Bool, time: Int64) throws {
    guard case .object(var identity)? = try syncIdentity() else { return }
    identity["last"] = .int(time)
    identity["complete"] = .bool(isComplete)
    try setSyncIdentity(.object(identity))
  }

  private func setSyncIdentity(_ json: JSONValue) throws {
    try connection.run(
      "UPDATE record_collection SET sync = ? WHERE id = ?", .text(try json.text), .integer(collection))
  }

  /// Deletes the sync identity, the sync metadata and the open conflicts.
  func detach() throws {
    try connection.run("UPDATE record_collection SET sync = NULL WHERE id = ?", .integer(collection))
    try connection.run("DELETE FROM record_sync WHERE collection = ?", .integer(collection))
    try connection.run(
      "DELETE FROM record_conflict WHERE collection = ? AND kind = 'open'", .integer(collection))
  }

  // MARK: Marks

  func marks(after key: String, limit: Int) throws -> [RecordMark] {
    var marks: [RecordMark] = []
    try connection.each(
      """
      SELECT key, etag, pending, sending, conflict_etag, attempts, retry_at, error FROM record_sync
      WHERE collection = ? AND key > ? ORDER BY key LIMIT ?
      """, .integer(collection), .text(key), .integer(Int64(limit))
    ) { marks.append(try Self.mark($0)) }
    return marks
  }

  func mark(_ key: String) throws -> RecordMark? {
    try connection.first(
      """
      SELECT key, etag, pending, sending, conflict_etag, attempts, retry_at, error FROM record_sync
      WHERE collection = ? AND key = ?
      """, .integer(collection), .text(key), read: Self.mark)
  }

  private static func mark(_ row: Statement) throws -> RecordMark {
    var mark = RecordMark(id: row.text(0))
    mark.etag = row.textIfAny(1).flatMap { ETag($0) }
    mark.pending = try row.integerIfAny(2)
    mark.isSending = !row.isNull(3)
    mark.conflict = row.textIfAny(4).flatMap { ETag($0) }
    if let message = row.textIfAny(7) {
      mark.failure = RecordFailureMark(
        attempts: Int(try row.integer(5, in: 0...1 << 31)), retryAt: try row.integer(6), message: message)
    }
    return mark
  }

  /// Returns the sync metadata of a record, with its local content only when it was deleted.
  func state(_ key: String) throws -> RecordState? {
    try connection.first(
      """
      SELECT pending, base, etag, sending, sent, conflict_etag, attempts, deleted, revision, created
      FROM record_sync WHERE collection = ? AND key = ?
      """, .integer(collection), .text(key)
    ) { row in
      var state = RecordState(id: key)
      state.pending = try row.integerIfAny(0)
      state.base = row.isNull(1) ? nil : Array(row.bytes(1))
      state.etag = row.textIfAny(2).flatMap { ETag($0) }
      if !row.isNull(3) {
        state.sending = RecordSending(sequence: try row.integer(3), envelope: Array(row.bytes(4)))
      }
      state.conflict = row.textIfAny(5).flatMap { ETag($0) }
      state.attempts = Int(try row.integer(6, in: 0...1 << 31))
      if !row.isNull(7) {
        state.local = RecordContent(
          document: nil, revision: try row.integer(8), created: try row.integer(9),
          modified: try row.integer(7))
      }
      return state
    }
  }

  // MARK: Changing

  /// Creates the row of a record if it does not exist.
  private func ensure(_ key: String) throws {
    try connection.run(
      "INSERT OR IGNORE INTO record_sync(collection, key, attempts) VALUES(?, ?, 0)", .integer(collection),
      .text(key))
  }

  func setSending(_ key: String, _ sequence: Int64?, _ envelope: [UInt8]?) throws {
    try ensure(key)
    try (envelope ?? []).withUnsafeBytes {
      try connection.run(
        "UPDATE record_sync SET sending = ?, sent = ? WHERE collection = ? AND key = ?",
        sequence.map { .integer($0) } ?? .null, envelope == nil ? .null : .blob($0), .integer(collection),
        .text(key))
    }
  }

  func setPending(_ key: String, _ sequence: Int64?) throws {
    try ensure(key)
    try connection.run(
      "UPDATE record_sync SET pending = ? WHERE collection = ? AND key = ?",
      sequence.map { .integer($0) } ?? .null, .integer(collection), .text(key))
  }

  /// Makes an envelope the base, and clears the upload in flight and past failures.
  func setBase(_ key: String, _ envelope: [UInt8], _ etag: ETag?) throws {
    try ensure(key)
    try envelope.withUnsafeBytes {
      try connection.run(
        """
        UPDATE record_sync SET base = ?, etag = ?, sending = NULL, sent = NULL, attempts = 0, retry_at = NULL,
        error = NULL, error_code = NULL WHERE collection = ? AND key = ?
        """, .blob($0), etag.map { .text($0.text) } ?? .null, .integer(collection), .text(key))
    }
  }

  func forgetObject(_ key: String) throws {
    try connection.run(
      "UPDATE record_sync SET etag = NULL, sending = NULL, sent = NULL WHERE collection = ? AND key = ?",
      .integer(collection), .text(key))
  }

  func setDeleted(_ key: UnsafeRawBufferPointer, revision: Int64, created: Int64, deleted: Int64) throws {
    try connection.run(
      """
      INSERT INTO record_sync(collection, key, deleted, revision, created, attempts) VALUES(?1, ?2, ?3, ?4, ?5, 0)
      ON CONFLICT DO UPDATE SET deleted = ?3, revision = ?4, created = ?5
      """, .integer(collection), .textBytes(key), .integer(deleted), .integer(revision), .integer(created))
  }

  func fail(_ key: String, _ error: SatchelError, attempts: Int, retryAt: Int64) throws {
    try ensure(key)
    try connection.run(
      """
      UPDATE record_sync SET attempts = ?, retry_at = ?, error = ?, error_code = ?
      WHERE collection = ? AND key = ?
      """, .integer(Int64(attempts)), .integer(retryAt), .text(error.message),
      .integer(Int64(error.code.rawValue)), .integer(collection), .text(key))
  }
}
