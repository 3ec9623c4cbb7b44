import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

extension RecordCollection {
  /// Returns conflicts, oldest first.
  ///
  /// - Parameter number: 0, or the id of the last conflict of the previous page
  public func conflicts(after number: Int64 = 0, limit: Int = 100) throws -> [RecordConflict] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: must be 1 or more") }
    return try read { connection, _ in
      var rows: [(conflict: RecordConflict, local: [UInt8]?)] = []
      try connection.each(
        """
        SELECT id, key, kind, time, local, remote, base FROM record_conflict WHERE collection = ? AND id > ?
        ORDER BY id LIMIT ?
        """, .integer(id), .integer(number), .integer(Int64(limit))
      ) { row in
        var conflict = RecordConflict(
          id: try row.integer(0), record: row.text(1),
          kind: RecordConflict.Kind(rawValue: row.text(2)) ?? .lost,
          time: try row.integer(3))
        conflict.remote = try Self.document(row, 5)
        conflict.base = try Self.document(row, 6)
        rows.append((conflict, row.isNull(4) ? nil : Array(row.bytes(4))))
      }
      return try rows.map { try complete($0.conflict, $0.local) }
    }
  }

  /// Adds the local document: of an open conflict, that of the record as it is now.
  private func complete(_ conflict: RecordConflict, _ local: [UInt8]?) throws -> RecordConflict {
    var conflict = conflict
    if conflict.kind == .open {
      conflict.local = try state(of: conflict.record).local?.document.map { try JSONValue(parsing: $0) }
    } else {
      conflict.local = try local.flatMap { try JSONValue(parsing: $0)["document"] }.flatMap {
        $0.isNull ? nil : $0
      }
    }
    return conflict
  }

  /// Returns the document of an envelope in a column.
  private static func document(_ row: Statement, _ column: Int32) throws -> JSONValue? {
    guard !row.isNull(column) else { return nil }
    return try JSONValue(parsing: row.bytes(column))["document"]
  }

  /// Resolves a conflict. For an open conflict the decision becomes the record's document, and is uploaded on
  /// top of the remote version. For a conflict whose local version was lost, keeping the local version or
  /// giving a document writes that, and keeping the remote version only deletes the conflict.
  ///
  /// - Throws: `.notFound` when there is no such conflict; `.invalid` and `.constraint` as `put` and `delete`
  ///   do
  public func resolve(_ conflict: Int64, _ resolution: RecordResolution) throws {
    try store.transaction { _ in
      try write { work, collection in
        let found = try work.connection.first(
          "SELECT key, kind, local, remote, etag FROM record_conflict WHERE collection = ? AND id = ?",
          .integer(id), .integer(conflict)
        ) {
          StoredConflict(
            key: $0.text(0), isOpen: $0.text(1) == "open", local: $0.isNull(2) ? nil : Array($0.bytes(2)),
            remote: Array($0.bytes(3)), etag: $0.textIfAny(4).flatMap { ETag($0) })
        }
        guard let found else { throw SatchelError(.notFound, "\(name): there is no conflict \(conflict)") }
        try work.connection.run("DELETE FROM record_conflict WHERE id = ?", .integer(conflict))
        if found.isOpen {
          try decide(found, resolution, work, collection)
        } else {
          try restore(found, resolution, work, collection)
        }
      }
    }
  }

  /// A conflict as it is stored.
  private struct StoredConflict {
    var key: String
    var isOpen: Bool
    var local: [UInt8]?
    var remote: [UInt8]
    var etag: ETag?
  }

  private func decide(
    _ conflict: StoredConflict, _ resolution: RecordResolution, _ work: RecordWork,
    _ collection: WorkingCollection
  ) throws {
    let remote = try RecordEnvelope(parsing: conflict.remote, id: conflict.key).content
    let local = try state(of: conflict.key).local
    let document: [UInt8]?
    switch resolution {
    case .keepLocal: document = local?.document
    case .keepRemote: document = remote.document
    case .document(let value): document = try serialized(value, conflict.key)
    case .delete: document = nil
    }
    let content = RecordContent(
      document: document, revision: max(local?.revision ?? 0, remote.revision) + 1, created: remote.created,
      modified: work.now)
    try work.applyRemote(content, conflict.key, local, in: collection)
    let table = SyncTable(connection: work.connection, collection: id)
    try table.setBase(conflict.key, conflict.remote, conflict.etag)
    try table.dropOpenConflict(conflict.key)
    collection.numbers.sequence += 1
    collection.numbers.isDirty = true
    try table.setPending(conflict.key, collection.numbers.sequence)
  }

  private func restore(
    _ conflict: StoredConflict, _ resolution: RecordResolution, _ work: RecordWork,
    _ collection: WorkingCollection
  ) throws {
    let document: [UInt8]?
    switch resolution {
    case .keepRemote: return
    case .delete: document = nil
    case .document(let value): document = try serialized(value, conflict.key)
    case .keepLocal: document = try conflict.local.flatMap { try Self.localDocument($0) }
    }
    var key = conflict.key
    try key.withUTF8 { key in
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

  /// Deletes the sync metadata of the collection: its records are local again.
  public func detach() throws {
    try store.transaction { _ in
      try write { work, _ in
        try work.flush()
        try SyncTable(connection: work.connection, collection: id).detach()
        work.forget(id)
      }
    }
  }
}
