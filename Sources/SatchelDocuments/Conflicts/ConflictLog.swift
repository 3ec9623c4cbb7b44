import SatchelCore
import SatchelJSON
import SatchelStorage

/// The table of the conflict log, which all subjects write.
package enum ConflictSchema {
  package static let subject = SubjectSchema(
    name: "conflicts",
    migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "conflict.id": 1...1 << 53, "conflict.subject": 0...1, "conflict.owner": 0...1 << 53,
        "conflict.kind": 0...2, "conflict.side": StoredRange.flag, "conflict.cause": StoredRange.flag,
      ],
      times: ["conflict.time": .stamp]))

  private static let version1 = """
    -- `subject` is 0 for records, 1 for photos; `owner` is the id of the collection or the catalogue, `key` the id of
    -- the record or the MD5 of the photo. `kind` is 0 for a conflict about which the host has to decide, 1 for a remote
    -- version that cannot be applied before something else has changed, 2 for one where the version of `side`, 0 for
    -- local and 1 for remote, was discarded. `cause` is 0 for a synchronization, 1 for an import. Of photos, `local`,
    -- `remote` and `base` are lines as they are written; of records, `local` is JSON, the others are envelopes, and
    -- those of a collection with sensitive fields are sealed, and begin with the byte 1. Of one that waits, `code` and
    -- `reason` say why; `waits_for` is "collection/id" of the record whose change ends it, NULL when only a declaration
    -- or another entry does.
    CREATE TABLE conflict(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      subject INTEGER NOT NULL,
      owner INTEGER NOT NULL,
      key TEXT NOT NULL,
      kind INTEGER NOT NULL,
      side INTEGER,
      cause INTEGER NOT NULL,
      time INTEGER NOT NULL,
      local BLOB,
      remote BLOB,
      base BLOB,
      code INTEGER,
      reason TEXT,
      waits_for TEXT
    ) STRICT;
    CREATE INDEX conflict_owner ON conflict(subject, owner);
    CREATE INDEX conflict_undecided ON conflict(key) WHERE kind < 2;
    CREATE INDEX conflict_waiting ON conflict(waits_for) WHERE kind = 1;
    """
}

/// Reads and writes the conflict log.
package struct ConflictLog {
  package enum Subject: Int64, Sendable {
    case records = 0
    case photos = 1
  }

  /// A collection or a photo catalogue, by its id.
  package struct Owner: Hashable, Sendable {
    package var subject: Subject
    package var id: Int64

    package init(_ subject: Subject, _ id: Int64) { (self.subject, self.id) = (subject, id) }
  }

  /// A conflict as it is stored.
  package struct Row {
    package var id: Int64 = 0
    package var owner: Owner
    /// The id of the record, or the MD5 of the photo.
    package var key: String
    package var kind = ConflictEntry.Kind.lost
    package var side: ConflictSide?
    package var cause = ConflictEntry.Cause.sync
    package var time: Int64
    package var local: [UInt8]?
    package var remote: [UInt8]?
    package var base: [UInt8]?
    package var code: SatchelError.Code?
    package var reason: String?
    var waitsFor: String?

    package init(_ owner: Owner, _ key: String, time: Int64) {
      (self.owner, self.key, self.time) = (owner, key, time)
    }

    /// Returns the conflict with its versions as the owner reads them.
    ///
    /// - Parameter read: returns a version as JSON
    package func conflict(
      about item: ConflictEntry.Item, reading read: ([UInt8]) throws -> JSONValue?
    ) rethrows -> ConflictEntry {
      ConflictEntry(
        id: id, item: item, kind: kind, side: side, cause: cause, time: time, local: try local.flatMap(read),
        remote: try remote.flatMap(read), base: try base.flatMap(read), code: code, reason: reason)
    }
  }

  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  // MARK: Reading

  /// Returns conflicts, oldest first.
  ///
  /// - Parameters:
  ///   - owner: nil for all
  ///   - id: 0, or that of the last conflict of the previous page
  /// - Throws: `.invalid` for a limit below 1, `.damaged`
  package func rows(of owner: Owner?, after id: Int64, limit: Int) throws -> [Row] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: must be 1 or more") }
    var rows: [Row] = []
    func add(_ row: Statement) throws {
      let found = try Row(row)
      try RowOrder.check(found.id, after: rows.last?.id ?? id, of: "conflict")
      rows.append(found)
    }
    if let owner {
      try connection.each(
        """
        SELECT id, subject, owner, key, kind, side, cause, time, local, remote, base, code, reason FROM conflict
        WHERE subject = ? AND owner = ? AND id > ? ORDER BY id LIMIT ?
        """, .integer(owner.subject.rawValue), .integer(owner.id), .integer(id), .integer(Int64(limit)),
        visit: add)
    } else {
      try connection.each(
        """
        SELECT id, subject, owner, key, kind, side, cause, time, local, remote, base, code, reason FROM conflict
        WHERE id > ? ORDER BY id LIMIT ?
        """, .integer(id), .integer(Int64(limit)), visit: add)
    }
    return rows
  }

  /// Removes a conflict that was resolved, and returns it.
  ///
  /// - Parameter name: of the owner
  /// - Throws: `.notFound`, `.damaged`
  package func take(_ id: Int64, of owner: Owner, named name: String) throws -> Row {
    let row = try rows(of: owner, after: max(id, 1) - 1, limit: 1).first
    guard let row, row.id == id else { throw SatchelError(.notFound, "\(name): there is no conflict \(id)") }
    try connection.run("DELETE FROM conflict WHERE id = ?", .integer(id))
    return row
  }

  /// The ids of conflicts, for a check that reads them one by one.
  package func ids(of owner: Owner) throws -> [Int64] {
    var ids: [Int64] = []
    try connection.each(
      "SELECT id FROM conflict WHERE subject = ? AND owner = ? AND id > 0 ORDER BY id",
      .integer(owner.subject.rawValue), .integer(owner.id)
    ) { ids.append($0.anyInteger(0)) }
    return ids
  }

  package func count(of owner: Owner) throws -> Int64 {
    try connection.number(
      "SELECT count(*) FROM conflict WHERE subject = ? AND owner = ?", .integer(owner.subject.rawValue),
      .integer(owner.id))
  }

  // MARK: Writing

  package func add(_ row: Row) throws {
    try Self.binding(row) { local, remote, base in
      try connection.run(
        """
        INSERT INTO conflict(subject, owner, key, kind, side, cause, time, local, remote, base, code, reason,
        waits_for) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, .integer(row.owner.subject.rawValue), .integer(row.owner.id), .text(row.key),
        .integer(row.kind.rawValue), row.side.map { .integer($0.rawValue) } ?? .null,
        .integer(row.cause.rawValue), .integer(row.time), local, remote, base,
        row.code.map { .integer(Int64($0.rawValue)) } ?? .null, row.reason.map { .text($0) } ?? .null,
        row.waitsFor.map { .text($0) } ?? .null)
    }
  }

  /// Replaces the versions of a conflict by the same ones, sealed or opened.
  func update(_ row: Row) throws {
    try Self.binding(row) { local, remote, base in
      try connection.run(
        "UPDATE conflict SET local = ?, remote = ?, base = ? WHERE id = ?", local, remote, base,
        .integer(row.id))
    }
  }

  /// Calls `body` with bindings of the versions of a conflict.
  private static func binding(_ row: Row, _ body: (Binding, Binding, Binding) throws -> Void) throws {
    try binding(row.local) { local in
      try binding(row.remote) { remote in try binding(row.base) { base in try body(local, remote, base) } }
    }
  }

  private static func binding(_ version: [UInt8]?, _ body: (Binding) throws -> Void) throws {
    guard let version else { return try body(.null) }
    try version.withUnsafeBytes { try body(.blob($0)) }
  }

  /// Removes all conflicts of a collection or catalogue.
  package func removeAll(of owner: Owner) throws {
    try connection.run(
      "DELETE FROM conflict WHERE subject = ? AND owner = ?", .integer(owner.subject.rawValue),
      .integer(owner.id))
  }

  /// Removes all conflicts of a subject.
  func removeAll(_ subject: Subject) throws {
    try connection.run("DELETE FROM conflict WHERE subject = ?", .integer(subject.rawValue))
  }

  // MARK: Undecided ones, which only records have

  /// Ends the open and waiting conflicts of a record, before a new decision about it.
  func end(_ key: String, in collection: Int64) throws {
    try connection.run(
      "DELETE FROM conflict WHERE subject = 0 AND owner = ? AND key = ? AND kind < 2", .integer(collection),
      .text(key))
  }

  /// Ends the open and waiting conflicts of a record whose entry the remote has lost. Their remote versions are kept
  /// as lost ones.
  func endKeeping(_ key: String, in collection: Int64) throws {
    try connection.run(
      """
      UPDATE conflict SET kind = 2, side = 1, code = NULL, reason = NULL, waits_for = NULL
      WHERE subject = 0 AND owner = ? AND key = ? AND kind < 2 AND remote IS NOT NULL
      """, .integer(collection), .text(key))
    try end(key, in: collection)
  }

  /// Deletes open and waiting conflicts: the store is no longer synchronized.
  func endAll() throws { try connection.run("DELETE FROM conflict WHERE kind < 2") }

  /// Whether there is any open or waiting conflict.
  func hasUndecided() throws -> Bool {
    try connection.number("SELECT EXISTS(SELECT 1 FROM conflict WHERE kind < 2)") > 0
  }

  func hasWaiting() throws -> Bool {
    try connection.number("SELECT EXISTS(SELECT 1 FROM conflict WHERE kind = 1)") > 0
  }

  /// The records that wait for a change of another one.
  func waiting(for other: String) throws -> [(collection: Int64, key: String)] {
    var found: [(collection: Int64, key: String)] = []
    try connection.each("SELECT owner, key FROM conflict WHERE waits_for = ? AND kind = 1", .text(other)) {
      found.append((try $0.integer(0, in: RecordRow.collections), $0.text(1)))
    }
    return found
  }

  /// The records that a change of a collection's declaration may concern: its own, and those that wait for one of
  /// its records.
  func waiting(forCollection name: String, _ id: Int64) throws -> [(collection: Int64, key: String)] {
    var found: [(collection: Int64, key: String)] = []
    try connection.each(
      """
      SELECT owner, key FROM conflict WHERE kind = 1
      AND (owner = ?1 OR substr(waits_for, 1, length(?2)) = ?2)
      """, .integer(id), .text(name + "/")
    ) { found.append((try $0.integer(0, in: RecordRow.collections), $0.text(1))) }
    return found
  }
}

extension ConflictLog.Row {
  /// Reads the columns as `rows(of:after:limit:)` selects them.
  fileprivate init(_ row: Statement) throws {
    func value<Value: RawRepresentable>(_ column: Int32, _ type: Value.Type) throws -> Value
    where Value.RawValue == Int64 {
      guard let value = Value(rawValue: try row.integer(column)) else {
        throw SatchelError(.damaged, "conflict: conflict \(row.anyInteger(0)) cannot be read")
      }
      return value
    }
    func version(_ column: Int32) -> [UInt8]? { row.isNull(column) ? nil : Array(row.bytes(column)) }
    let owner = ConflictLog.Owner(try value(1, ConflictLog.Subject.self), try row.integer(2))
    self.init(owner, row.text(3), time: try row.integer(7))
    id = try row.integer(0)
    kind = try value(4, ConflictEntry.Kind.self)
    side = row.isNull(5) ? nil : try value(5, ConflictSide.self)
    cause = try value(6, ConflictEntry.Cause.self)
    (local, remote, base) = (version(8), version(9), version(10))
    code = try row.integerIfAny(11).flatMap { SatchelError.Code(rawValue: Int32(clamping: $0)) }
    reason = row.textIfAny(12)
  }
}
