import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

extension RecordCollection {
  /// Returns the conflicts of this collection, oldest first.
  ///
  /// - Parameter number: 0, or the id of the last conflict of the previous page
  public func conflicts(after number: Int64 = 0, limit: Int = 100) throws -> [ConflictEntry] {
    try read { connection, _ in
      let owner = ConflictLog.Owner(.records, id)
      return try ConflictLog(connection).rows(of: owner, after: number, limit: limit).map {
        try store.conflict($0, in: name, connection)
      }
    }
  }

  /// Resolves a conflict. The decision about an open one, or about a remote version that waits, becomes the
  /// record's document, and is sent over the remote version. For a version that was lost, keeping it or giving a
  /// document writes that, and keeping the other version only deletes the conflict.
  ///
  /// - Throws: `SatchelError` `.notFound` when there is no such conflict; `.newer` when the remote version was written
  ///   by a newer version of the app; `.conflict` when the remote version has been replaced since, and has to
  ///   be decided first; `.invalid` and `.constraint` as `put` and `delete` do
  public func resolve(_ conflict: Int64, _ resolution: ConflictResolution) throws {
    try transaction { work, collection in
      var found = try ConflictLog(work.connection).take(
        conflict, of: ConflictLog.Owner(.records, id), named: name)
      try naming("\(name)/\(found.key)") {
        found.local = try found.local.map { try found.opened($0, database.keyring.keys) }
        found.remote = try found.remote.map { try found.opened($0, database.keyring.keys) }
      }
      try locating(.record(name, found.key.utf8)) {
        if found.kind == .lost {
          try restore(found, resolution, work: work, in: collection)
        } else {
          try decide(found, resolution, work: work, in: collection)
        }
      }
    }
  }

  private func decide(
    _ conflict: ConflictLog.Row, _ resolution: ConflictResolution, work: RecordWork,
    in collection: CollectionState
  ) throws {
    if conflict.remote == nil, try collection.rules.isSensitive, conflict.kind == .waiting {
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
    case .keepRemote: try set(conflict.key, to: remote.document, work, in: collection)
    case .document(let value):
      try set(conflict.key, to: serialized(value, conflict.key), work, in: collection)
    case .delete: try set(conflict.key, to: nil, work, in: collection)
    }
    guard try tracker.resolve(envelope.key, seen: envelope.checksum) else {
      throw SatchelError(
        .conflict,
        "\(name)/\(conflict.key): the remote version has changed since; synchronize, and read the conflict again"
      )
    }
  }

  private func restore(
    _ conflict: ConflictLog.Row, _ resolution: ConflictResolution, work: RecordWork,
    in collection: CollectionState
  ) throws {
    switch (resolution, conflict.side ?? .local) {
    case (.keepRemote, .local), (.keepLocal, .remote): return
    case (.keepRemote, .remote):
      var migrating = MigratingContent(collection, work)
      let remote = try conflict.remote.map { try migrating.version(SyncEnvelope(parsing: $0)).content }
      try set(conflict.key, to: remote?.document, work, in: collection)
    case (.delete, _): try set(conflict.key, to: nil, work, in: collection)
    case (.document(let value), _):
      try set(conflict.key, to: serialized(value, conflict.key), work, in: collection)
    case (.keepLocal, .local):
      try set(
        conflict.key, to: conflict.local.flatMap { try Self.localDocument($0) }, work, in: collection)
    }
  }

  /// Writes a document, or deletes the record for nil.
  private func set(
    _ id: String, to document: [UInt8]?, _ work: RecordWork, in collection: CollectionState
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

extension RecordStore {
  /// Returns a conflict with its documents.
  ///
  /// - Throws: `.unauthorized` for sealed versions when the key is not set, `.damaged`
  package func conflict(_ row: ConflictLog.Row, _ connection: Connection) throws -> ConflictEntry {
    guard let collection = try CollectionState.read(row.owner.id, connection) else {
      throw SatchelError(.damaged, "conflict: conflict \(row.id) has no owner")
    }
    return try conflict(row, in: collection.name, connection)
  }

  fileprivate func conflict(
    _ row: ConflictLog.Row, in collection: String, _ connection: Connection
  ) throws -> ConflictEntry {
    try naming("\(collection)/\(row.key)") {
      var conflict = try row.conflict(about: .record(collection: collection, id: row.key)) { version in
        let document = try JSONValue(parsing: row.opened(version, database.keyring.keys))["document"]
        return document?.isNull == true ? nil : document
      }
      if row.kind != .lost, let key = try? SyncKey(collection, row.key) {
        // As the record is now.
        conflict.local = try RecordSyncClient(self).content(of: key, isEncrypted: true, connection)?.content
          .document.map { try JSONValue(parsing: $0) }
      }
      return conflict
    }
  }
}
