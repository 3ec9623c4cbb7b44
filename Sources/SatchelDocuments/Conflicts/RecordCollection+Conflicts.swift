import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

extension RecordCollection {
  /// Returns conflicts, oldest first.
  ///
  /// - Parameter number: 0, or the id of the last conflict of the previous page
  public func conflicts(after number: Int64 = 0, limit: Int = 100) throws -> [RecordConflict] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: must be 1 or more") }
    let client = RecordSyncClient(store)
    return try read { connection, _ in
      var rows: [(conflict: RecordConflict, local: [UInt8]?)] = []
      try connection.each(
        """
        SELECT id, key, kind, time, local, remote, base, code, reason, side FROM record_conflict
        WHERE collection = ? AND id > ? ORDER BY id LIMIT ?
        """, .integer(id), .integer(number), .integer(Int64(limit))
      ) { row in
        let found = try row.integer(0)
        try RowOrder.check(found, after: rows.last?.conflict.id ?? number, of: "record_conflict")
        var conflict = RecordConflict(
          id: found, record: row.text(1),
          kind: RecordConflict.Kind(rawValue: row.text(2)) ?? .lost,
          time: try row.integer(3))
        conflict.remote = try document(row, 5, conflict.record)
        conflict.base = try document(row, 6, conflict.record)
        conflict.code = try row.integerIfAny(7).flatMap { code in
          SatchelError.Code(rawValue: Int32(clamping: code))
        }
        conflict.reason = row.textIfAny(8)
        conflict.side = row.textIfAny(9).flatMap { ConflictSide(rawValue: $0) }
        rows.append((conflict, try version(row, 4, conflict.record)))
      }
      return try rows.map { found in
        var conflict = found.conflict
        if conflict.kind == .lost {
          conflict.local = try found.local.flatMap { try JSONValue(parsing: $0)["document"] }.flatMap {
            $0.isNull ? nil : $0
          }
        } else if let key = try? SyncKey(name, conflict.record) {
          // As the record is now.
          conflict.local = try client.content(of: key, isEncrypted: true, connection)?.content.document.map {
            try JSONValue(parsing: $0)
          }
        }
        return conflict
      }
    }
  }

  /// Returns the document of an envelope in a column.
  private func document(_ row: Statement, _ column: Int32, _ key: String) throws -> JSONValue? {
    try version(row, column, key).flatMap { try JSONValue(parsing: $0)["document"] }
  }

  /// Returns a version in a column, opened if it is sealed.
  private func version(_ row: Statement, _ column: Int32, _ key: String) throws -> [UInt8]? {
    guard !row.isNull(column) else { return nil }
    return try naming("\(name)/\(key)") {
      try ConflictTable.opened(Array(row.bytes(column)), key, id, database.keyring.keys)
    }
  }

  /// Resolves a conflict. The decision about an open one, or about a remote version that waits, becomes the
  /// record's document, and is sent over the remote version. For a version that was lost, keeping it or giving a
  /// document writes that, and keeping the other version only deletes the conflict.
  ///
  /// - Throws: `SatchelError` `.notFound` when there is no such conflict; `.newer` when the remote version was written
  ///   by a newer version of the app; `.conflict` when the remote version has been replaced since, and has to
  ///   be decided first; `.invalid` and `.constraint` as `put` and `delete` do
  public func resolve(_ conflict: Int64, _ resolution: RecordResolution) throws {
    try store.transaction { _ in
      try write { work, collection in
        let found = try work.connection.first(
          "SELECT key, kind, local, remote, side FROM record_conflict WHERE collection = ? AND id = ?",
          .integer(id), .integer(conflict)
        ) {
          StoredConflict(
            key: $0.text(0), kind: RecordConflict.Kind(rawValue: $0.text(1)) ?? .lost,
            local: try version($0, 2, $0.text(0)), remote: try version($0, 3, $0.text(0)),
            lost: $0.textIfAny(4).flatMap { ConflictSide(rawValue: $0) } ?? .local)
        }
        guard let found else { throw SatchelError(.notFound, "\(name): there is no conflict \(conflict)") }
        try work.connection.run("DELETE FROM record_conflict WHERE id = ?", .integer(conflict))
        try locating(.record(name, found.key.utf8)) {
          if found.kind == .lost {
            try restore(found, resolution, work, collection)
          } else {
            try decide(found, resolution, work, collection)
          }
        }
      }
    }
  }

  /// A conflict as it is stored.
  private struct StoredConflict {
    var key: String
    var kind: RecordConflict.Kind
    var local: [UInt8]?
    var remote: [UInt8]?
    /// Of a lost one, the side that was discarded.
    var lost: ConflictSide
  }

  private func decide(
    _ conflict: StoredConflict, _ resolution: RecordResolution, _ work: RecordWork,
    _ collection: WorkingCollection
  ) throws {
    if conflict.remote == nil, !collection.shape.sensitive.isEmpty, conflict.kind == .waiting {
      throw SatchelError(
        .unauthorized,
        "\(name)/\(conflict.key): has sensitive fields; set the encryption key, and synchronize")
    }
    guard let tracker = try work.tracker(), let bytes = conflict.remote else {
      throw SatchelError(.notFound, "\(name)/\(conflict.key): the store is no longer synchronized")
    }
    let envelope = try SyncEnvelope(parsing: bytes)
    var migrating = MigratingContent(collection, work)
    let remote = try migrating.version(envelope).content
    switch resolution {
    case .keepLocal: break
    case .keepRemote: try set(conflict.key, to: remote.document, work, collection)
    case .document(let value):
      try set(conflict.key, to: serialized(value, conflict.key), work, collection)
    case .delete: try set(conflict.key, to: nil, work, collection)
    }
    guard try tracker.resolve(envelope.key, seen: envelope.checksum) else {
      throw SatchelError(
        .conflict,
        "\(name)/\(conflict.key): the remote version has changed since; synchronize, and read the conflict again"
      )
    }
  }

  private func restore(
    _ conflict: StoredConflict, _ resolution: RecordResolution, _ work: RecordWork,
    _ collection: WorkingCollection
  ) throws {
    switch (resolution, conflict.lost) {
    case (.keepRemote, .local), (.keepLocal, .remote): return
    case (.keepRemote, .remote):
      var migrating = MigratingContent(collection, work)
      let remote = try conflict.remote.map { try migrating.version(SyncEnvelope(parsing: $0)).content }
      try set(conflict.key, to: remote?.document, work, collection)
    case (.delete, _): try set(conflict.key, to: nil, work, collection)
    case (.document(let value), _):
      try set(conflict.key, to: serialized(value, conflict.key), work, collection)
    case (.keepLocal, .local):
      try set(
        conflict.key, to: conflict.local.flatMap { try Self.localDocument($0) }, work, collection)
    }
  }

  /// Writes a document, or deletes the record for nil.
  private func set(
    _ id: String, to document: [UInt8]?, _ work: RecordWork, _ collection: WorkingCollection
  ) throws {
    var id = id
    try id.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      if let document {
        try document.withUnsafeBytes { _ = try work.put(key, $0, in: collection) }
      } else {
        _ = try work.delete(key, from: collection)
      }
    }
  }

  private func serialized(_ document: JSONValue, _ key: String) throws -> [UInt8] {
    guard case .object = document else {
      throw SatchelError(.invalid, "\(name)/\(key): a document must be an object")
    }
    return try naming("\(name)/\(key)") { try document.serialized() }
  }

  /// Returns the document of a stored local version, byte for byte; nil for a deletion.
  private static func localDocument(_ local: [UInt8]) throws -> [UInt8]? {
    try local.withUnsafeBytes { bytes in
      let tape = try JSONTape(bytes)
      guard let document = tape.member("document", of: tape.root), tape[document].kind == .object else {
        return nil
      }
      var copy: [UInt8] = []
      tape.copy(document, to: &copy)
      return copy
    }
  }
}
