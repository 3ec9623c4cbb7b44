import SatchelCore
import SatchelSync
import SatchelStorage

extension RecordWork {
  private var keyring: Keyring { store.database.keyring }

  /// Returns the key that seals a collection's documents, and notes it.
  ///
  /// - Parameter location: begins the message of the error
  /// - Throws: `.invalid` when it is not set
  func sealingKey(_ collection: WorkingCollection, _ location: @autoclosure () -> String) throws
    -> EncryptionKey
  {
    if let key = keyring.current, collection.numbers.sealedBy == key.name { return key }
    let key = try keyring.sealingKey(connection, at: { location() })
    try changing {
      try key.name.withUnsafeBytes {
        try connection.run(
          "UPDATE record_collection SET sealed_by = ? WHERE id = ?", .blob($0), .integer(collection.id))
      }
    }
    collection.numbers.sealedBy = key.name
    return key
  }

  /// Returns a document as it is stored; nil when it has no sensitive fields, and is stored as it is.
  func sealed(
    _ body: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ collection: WorkingCollection
  ) throws -> [UInt8]? {
    let fields = collection.shape.sensitive
    guard let path = fields.paths.first else { return nil }
    return fields.seal(body, key, by: try sealingKey(collection, fields.location(key, path)))
  }

  /// Returns the document of a record; nil when it does not exist.
  func document(_ row: Int64, _ key: UnsafeRawBufferPointer, in collection: WorkingCollection) throws
    -> [UInt8]?
  {
    guard let stored = try RecordTable(connection: connection).document(row) else { return nil }
    guard stored.isSealed else { return stored.body }
    return try stored.body.withUnsafeBytes {
      try collection.shape.opened($0, key, by: keyring.keys)
    }
  }

  /// The content of a record; nil when it does not exist.
  func content(_ row: Int64, _ key: UnsafeRawBufferPointer, in collection: WorkingCollection) throws
    -> SyncContent?
  {
    guard var found = try RecordTable(connection: connection).content(row) else { return nil }
    if found.isSealed { found.content.document = try document(row, key, in: collection) }
    return found.content
  }

  /// The storage of the versions of a conflict.
  func sealing(_ collection: WorkingCollection) -> RecordConflicts.Sealing {
    if collection.shape.sensitive.isEmpty { return .plain }
    guard let key = try? sealingKey(collection, "") else { return .withheld }
    return .sealed(key)
  }
}

extension CollectionShape {
  /// Opens a document whose row is marked as sealed.
  ///
  /// - Throws: `.unauthorized` when the key is not set; `.damaged`
  func opened(
    _ document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, by keys: Keyring.Keys
  ) throws -> [UInt8] {
    guard !sensitive.isEmpty else {
      throw SatchelError(
        .invalid,
        "\(name)/\(String(decoding: key, as: UTF8.self)): has sensitive fields, and the declaration that "
          + "names them was lost; declare them again")
    }
    return try sensitive.open(document, key, by: keys)
  }

  /// - Throws: `.invalid` for a path of a query that sensitive fields are in
  func checkQueried(_ path: FieldPath) throws {
    guard case .document(let path) = path, let sensitive = sensitive.overlapping(path) else { return }
    throw SatchelError(
      .invalid, "\(name): \"\(path.text)\": \"\(sensitive.text)\" is sensitive, and cannot be queried")
  }

  func checkQueried(_ filter: CompiledFilter) throws {
    if sensitive.isEmpty { return }
    switch filter {
    case .test(let test): try checkQueried(test.path)
    case .all(let parts), .any(let parts): for part in parts { try checkQueried(part) }
    case .not(let part): try checkQueried(part)
    }
  }
}
