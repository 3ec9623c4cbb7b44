import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// Seals, opens and reseals the stored documents of a collection.
struct RecordSealing {
  let connection: Connection
  let row: CollectionState
  /// The fields that are sealed in rows that are marked,
  let old: SensitiveFields
  /// and those that are to be.
  let new: SensitiveFields
  /// The keys that open sealed fields.
  let keys: Keyring.Keys
  /// The key that seals; required only when `new` has fields.
  let key: EncryptionKey?

  /// Rewrites every document, and the other stored copies of documents, in time proportional to their number.
  ///
  /// - Throws: `.unauthorized` when a key is missing, `.damaged` for a field that cannot be opened: the
  ///   transaction must fail then
  func run() throws {
    var last = RecordRow.base(of: row.id)
    while let end = try part(after: last) { last = end }
    try runConflicts()
    try (key?.name ?? []).withUnsafeBytes { name in
      try connection.run(
        "UPDATE record_collection SET sealed_by = ? WHERE id = ?",
        new.isEmpty || key == nil ? .null : .blob(name),
        .integer(row.id))
    }
  }

  // In chunks: a statement must not iterate over rows that are being changed.
  private func part(after last: Int64) throws -> Int64? {
    var part: [(row: Int64, key: [UInt8], body: [UInt8], isSealed: Bool)] = []
    try connection.each(
      "SELECT id, key, body, is_sealed FROM record WHERE id > ? AND id < ? ORDER BY id LIMIT 256",
      .integer(last), .integer(RecordRow.base(of: row.id + 1))
    ) { part.append(($0.anyInteger(0), Array($0.bytes(1)), Array($0.bytes(2)), $0.flag(3))) }
    for record in part {
      try record.key.withUnsafeBytes { key in
        // A mark without a declaration: the declaration was lost, and this one replaces it.
        let fields = old.isEmpty ? new : old
        let plain =
          record.isSealed
          ? try record.body.withUnsafeBytes { try fields.open($0, key, by: keys) } : record.body
        if row.isBound, !record.isSealed {
          try plain.withUnsafeBytes { try SyncTracker.keepDocument($0, of: key, in: row.name, connection) }
        }
        try write(plain, record.row, id: key)
        try runKept(record.row, key, isSealed: record.isSealed)
      }
    }
    guard let end = part.last?.row else { return nil }
    try RowOrder.check(end, after: last, of: "record")
    return end
  }

  private func write(_ plain: [UInt8], _ record: Int64, id: UnsafeRawBufferPointer) throws {
    let stored = try plain.withUnsafeBytes { new.isEmpty ? plain : new.seal($0, id, by: try sealingKey(id)) }
    try stored.withUnsafeBytes {
      try connection.run(
        "UPDATE record SET body = ?, is_sealed = ? WHERE id = ?", .blob($0), .integer(new.isEmpty ? 0 : 1),
        .integer(record))
    }
  }

  private func sealingKey(_ id: UnsafeRawBufferPointer) throws -> EncryptionKey {
    if let key { return key }
    let location = new.paths.first.map { new.location(id, $0) } ?? row.name
    throw SatchelError.keyNotSet(location)
  }

  // MARK: Values that migrations have kept

  private func runKept(_ record: Int64, _ id: UnsafeRawBufferPointer, isSealed: Bool) throws {
    var kept: [(version: Int64, path: String, value: [UInt8])] = []
    try connection.each(
      "SELECT version, path, value FROM record_kept WHERE record = ?", .integer(record)
    ) { kept.append(($0.anyInteger(0), $0.text(1), Array($0.bytes(2)))) }
    for value in kept {
      let location = KeptLocation(record: record, version: value.version, path: value.path)
      let plain = isSealed ? try location.open(value.value, by: keys) : value.value
      let stored = new.isEmpty ? plain : location.seal(plain, by: try sealingKey(id))
      try stored.withUnsafeBytes {
        try connection.run(
          "UPDATE record_kept SET value = ? WHERE record = ? AND version = ? AND path = ?", .blob($0),
          .integer(record), .integer(value.version), .text(value.path))
      }
    }
  }

  /// The location of a kept value.
  struct KeptLocation {
    var record: Int64
    var version: Int64
    var path: String
    private var location: String { "record_kept/\(record)/\(version)/\(path)" }

    func seal(_ value: [UInt8], by key: EncryptionKey) -> [UInt8] {
      SensitiveFields.string(SealedValue.seal(value, by: key, at: location))
    }

    func open(_ value: [UInt8], by keys: Keyring.Keys) throws -> [UInt8] {
      let sealed = value.withUnsafeBytes { bytes -> [UInt8]? in
        guard bytes.count >= 2 else { return nil }
        return Base64.decoded(UnsafeRawBufferPointer(rebasing: bytes[1..<bytes.count - 1]))
      }
      return try SealedValue.open(sealed ?? [], by: keys, at: location)
    }
  }

  // MARK: Conflicts

  private func runConflicts() throws {
    let sealing =
      new.isEmpty ? RecordConflicts.Sealing.plain : key.map { .sealed($0) } ?? .withheld
    try RecordConflicts(connection).seal(row.id, as: sealing, opening: keys)
  }
}

// MARK: - The key of the store

extension RecordStore {
  /// Registers the sealed fields of records with the keyring.
  func registerSealed() {
    database.keyring.register(
      Keyring.Sealed(
        of: RecordSchema.subject.name,
        find: { name, connection in try Self.sealed(notBy: name, connection) },
        reseal: { [weak self] key, keys, transaction in try self?.reseal(with: key, keys, transaction) }))
    database.keyring.whenSet { [weak self] in
      guard let self, !database.options.isReadOnly, !database.isInTransaction else { return }
      // Writes that were spooled, and could not be opened without the key.
      try? outbox.retryRejected(in: database) { $0.objectValue?.first?.key == Self.sealedKind }
    }
  }

  /// The name of a collection with fields that are sealed with another key; nil when there is none.
  private static func sealed(notBy name: [UInt8], _ connection: Connection) throws -> String? {
    guard try has(connection) else { return nil }
    return try name.withUnsafeBytes { name in
      try connection.first(
        """
        SELECT name FROM record_collection AS c WHERE sealed_by <> ? AND sealed_by <> x'' AND (EXISTS(SELECT 1 FROM record
        WHERE id > c.id << 40 AND id < (c.id + 1) << 40 AND is_sealed = 1) OR EXISTS(SELECT 1 FROM conflict
        WHERE subject = 0 AND owner = c.id AND x'01' IN (substr(local, 1, 1), substr(remote, 1, 1), substr(base, 1, 1)))) LIMIT 1
        """, .blob(name)
      ) { $0.text(0) }
    }
  }

  private static func has(_ connection: Connection) throws -> Bool {
    try connection.has(table: "record_collection")
  }

  private func reseal(
    with key: EncryptionKey, _ keys: Keyring.Keys, _ transaction: Transaction
  ) throws {
    let connection = transaction.connection
    guard try Self.has(connection) else { return }
    var ids: [Int64] = []
    try key.name.withUnsafeBytes { name in
      try connection.each("SELECT id FROM record_collection WHERE sealed_by <> ?", .blob(name)) {
        ids.append($0.anyInteger(0))
      }
    }
    for id in ids {
      guard let row = try CollectionState.read(id, connection, of: self) else { continue }
      let fields = try row.rules.sensitive
      guard !fields.isEmpty else {
        throw SatchelError(
          .invalid,
          "\(row.name): the declaration of its sensitive fields was lost; declare them before the key is changed"
        )
      }
      try RecordSealing(connection: connection, row: row, old: fields, new: fields, keys: keys, key: key)
        .run()
    }
  }

  // MARK: Spooled writes

  static let sealedKind = "sealed_records"

  /// Returns an entry as the outbox file may have it: sealed, if the collection has sensitive fields.
  ///
  /// - Throws: `.unauthorized` when the key is not set
  func keepable(_ entry: JSONValue, of collection: String, isSensitive: Bool) throws -> JSONValue {
    guard isSensitive else { return entry }
    guard let key = database.keyring.current else {
      throw SatchelError.keyNotSet(collection)
    }
    var text: [UInt8] = []
    let bytes = try naming("entry") { try entry.serialized() }
    Base64.append(SealedValue.seal(bytes, by: key, at: Self.spoolLocation(collection)), to: &text)
    return [
      Self.sealedKind: [
        "collection": .string(collection), "entry": .string(String(decoding: text, as: UTF8.self)),
      ]
    ]
  }

  private static func spoolLocation(_ collection: String) -> String { "\(collection): a spooled write" }

  /// Opens an entry.
  func openedEntry(_ entry: JSONValue) throws -> JSONValue {
    guard let collection = entry["collection"]?.stringValue, let text = entry["entry"]?.stringValue,
      let sealed = Array(text.utf8).withUnsafeBytes({ Base64.decoded($0) })
    else { throw SatchelError(.invalid, "an entry must have \"collection\" and \"entry\"") }
    let location = Self.spoolLocation(collection)
    return try naming(location) {
      try JSONValue(parsing: SealedValue.open(sealed, by: database.keyring.keys, at: location))
    }
  }
}
