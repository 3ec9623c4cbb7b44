import SatchelCore
import SatchelStorage

/// One row of sync_entry.
struct SyncRow: Sendable {
  var id: Int64
  var key: SyncKey
  var generation: Int64
  /// Nil when the remote has no entry.
  var sequence: Int64?
  /// Nil when it is equal to `base`. Without a sequence, a dropped tombstone that is still to be applied.
  var remote: [UInt8]?
  var base: [UInt8]?
  /// Whether the entry is a deletion.
  var isTombstone = false
  var pending: Int64?
  var inFlight: InFlight?
  var ancestors: SyncVersionVector?
  var isUndecided = false
  var conflict: String?
  var attempts: Int64 = 0
  /// The metadata of local content whose deletion is pending.
  var deletion: SyncContent?
  /// When the entry was received or sent, and when `base` was; Unix milliseconds, nil when unknown.
  var received: Int64?
  var baseReceived: Int64?
  /// The envelopes that were read, and their stored form.
  var forms: [Form] = []
  /// The length of its envelopes as they are stored.
  var storedLength = 0

  struct Form: Sendable {
    var envelope: SyncEnvelope
    /// Nil for one that is not stored yet.
    var stored: SyncStoredEnvelope?
  }

  /// An envelope in flight.
  struct InFlight: Sendable {
    /// The change that it has.
    var sequence: Int64
    /// Its sequence number in the log.
    var number: Int64
    var envelope: [UInt8]
  }

  /// The envelope in the remote, at the position.
  var entry: [UInt8]? { sequence == nil ? nil : remote ?? base }

  /// The entry, or a dropped tombstone that is still to be applied, with times that are not later than it was received.
  var entryEnvelope: SyncEnvelope? {
    get throws { try (remote ?? entry).map { try envelope($0).dated(received) } }
  }

  /// The base, with times that are not later than it was received.
  var baseEnvelope: SyncEnvelope? {
    get throws { try base.map { try envelope($0).dated(baseReceived) } }
  }

  /// Reads an envelope of the row, or of its key.
  func envelope(_ bytes: [UInt8]) throws -> SyncEnvelope {
    try form(of: bytes)?.envelope ?? SyncEnvelope(stored: bytes, of: key)
  }

  /// Notes an envelope that was read elsewhere, so that it is not read again.
  mutating func note(_ envelope: SyncEnvelope) {
    if form(of: envelope.bytes) == nil { forms.append(Form(envelope: envelope, stored: nil)) }
  }

  func form(of envelope: [UInt8]) -> Form? { forms.first { $0.envelope.bytes == envelope } }

  /// Removes the document of `remote`, which is decided about.
  mutating func redactRemote() throws {
    remote = try remote.map { try form(of: $0)?.stored?.redacted ?? SyncStoredEnvelope.redacted($0) }
  }

  /// Whether it has local state in addition to the entry.
  var isLocal: Bool {
    base != nil || pending != nil || inFlight != nil || ancestors != nil || conflict != nil || attempts > 0
  }

  /// Makes an envelope the entry.
  mutating func setRemote(_ envelope: [UInt8]?, received: Int64?) {
    let isBase = SyncStoredEnvelope.isSame(envelope, base)
    // The same one, which may have been locked.
    if isBase, let envelope { base = envelope }
    remote = isBase ? nil : envelope
    self.received = isBase ? baseReceived : received
  }

  /// Makes an envelope the base, without changing the entry.
  mutating func setBase(_ envelope: [UInt8]?, received: Int64?) {
    let (entry, entryReceived) = (entry, self.received)
    (base, baseReceived) = (envelope, received)
    setRemote(entry, received: entryReceived)
  }

  /// The version that the local content was built on.
  func allAncestors() throws -> SyncVersionVector {
    var all = ancestors ?? SyncVersionVector()
    if let base { all.add(try envelope(base)) }
    return all
  }

  /// Stores the ancestors of the local content, if there are others than the base.
  mutating func setAncestors(_ all: SyncVersionVector) throws {
    let known = try base.map { SyncVersionVector(of: try envelope($0)) } ?? SyncVersionVector()
    ancestors = known.cover(all) ? nil : all
  }
}

/// Reads and writes rows of sync_entry.
struct SyncRowTable {
  /// The maximum number of names of collections.
  static let maximumCollections: Int64 = 10_000

  /// The ids of collections that were read: valid until the transaction ends.
  private final class Collections {
    var ids: [String: Int64] = [:]
  }

  let connection: Connection
  private let collections = Collections()
  /// Opens and seals the envelopes with sensitive content; nil when the key is not known.
  var key: EncryptionKey?
  /// The collections of which all documents are sensitive.
  var sensitive: Set<String> = []
  /// Returns the document of local content; nil where envelopes that have no other document are not opened.
  var documents: SyncDocuments?

  init(
    connection: Connection, key: EncryptionKey? = nil, sensitive: Set<String> = [],
    documents: SyncDocuments? = nil
  ) {
    self.connection = connection
    self.key = key
    self.sensitive = sensitive
    self.documents = documents
  }

  // MARK: Stored forms

  /// An envelope as it is stored: one with sensitive content, and one of a collection of which all documents are
  /// sensitive, are sealed if the key is known; a deletion never is. One that is equal to the local content is stored
  /// without its document.
  ///
  /// - Parameter isUnchanged: whether the local content may be that of the envelope
  func stored(_ envelope: SyncEnvelope, isUnchanged: Bool) throws -> [UInt8] {
    if envelope.content.isDeleted || envelope.isLocked { return envelope.bytes }
    if let key, envelope.isSensitive || sensitive.contains(envelope.key.collection) {
      return SyncStoredEnvelope.seal(envelope, key)
    }
    let isLocal = isUnchanged && envelope.key.collection != SyncKey.asset
    let document = isLocal ? try documents?(envelope.key, connection) : nil
    return SyncStoredEnvelope.compact(envelope, document: document) ?? envelope.bytes
  }

  private func stored(_ envelope: [UInt8], of row: SyncRow, isUnchanged: Bool?) throws -> [UInt8] {
    if let known = row.form(of: envelope)?.stored, !sensitive.contains(row.key.collection) {
      switch (known.form, isUnchanged) {
      // The document of an entry is kept whatever happens to the local content.
      case (.unchanged, nil): break
      // The local content may be equal to it by now.
      case (.kept, true):
        return known.compacted(document: try documents?(row.key, connection)) ?? known.bytes
      default: return known.bytes
      }
    }
    return try stored(row.envelope(envelope), isUnchanged: isUnchanged ?? false)
  }

  // MARK: Collections

  func collection(_ name: String) throws -> Int64? {
    if let known = collections.ids[name] { return known }
    let id = try connection.numberIfAny("SELECT id FROM sync_collection WHERE name = ?", .text(name))
    collections.ids[name] = id
    return id
  }

  func makeCollection(_ name: String) throws -> Int64 {
    if let id = try collection(name) { return id }
    guard try connection.number("SELECT count(*) FROM sync_collection") < Self.maximumCollections else {
      throw SatchelError(
        .damaged, "the sync log has entries of more than \(Self.maximumCollections) collections")
    }
    try connection.run("INSERT INTO sync_collection(name, is_declared) VALUES(?, 0)", .text(name))
    collections.ids[name] = connection.lastInsertedRow
    return connection.lastInsertedRow
  }

  // MARK: Rows

  func row(_ key: SyncKey, generation: Int64) throws -> SyncRow? {
    guard let collection = try collection(key.collection) else { return nil }
    return try connection.first(
      """
      SELECT id, ?1, key, generation, seq, remote, base, pending, in_flight_sequence, in_flight_number,
      in_flight_envelope, ancestors, undecided, conflict, attempts, deleted, revision, created, received, base_received,
      tombstone FROM sync_entry WHERE collection = ?2 AND key = ?3 AND generation = ?4
      """, .text(key.collection), .integer(collection), .text(key.id), .integer(generation), read: read)
  }

  func row(_ id: Int64) throws -> SyncRow? {
    try connection.first(
      """
      SELECT e.id, c.name, e.key, e.generation, e.seq, e.remote, e.base, e.pending, e.in_flight_sequence,
      e.in_flight_number, e.in_flight_envelope, e.ancestors, e.undecided, e.conflict, e.attempts, e.deleted,
      e.revision, e.created, e.received, e.base_received, e.tombstone
      FROM sync_entry e JOIN sync_collection c ON c.id = e.collection WHERE e.id = ?
      """, .integer(id), read: read)
  }

  private func read(_ row: Statement) throws -> SyncRow {
    let (collection, key) = (row.text(1), row.text(2))
    guard SyncKey.isCollection(collection), SyncKey.isID(key) else { throw row.damage(2, "is not a key") }
    var result = SyncRow(
      id: try row.integer(0), key: SyncKey(validated: collection, key),
      generation: try row.integer(3, in: StoredRange.count))
    func blob(_ column: Int32) -> [UInt8]? {
      guard !row.isNull(column) else { return nil }
      let stored = Array(row.bytes(column))
      result.storedLength += stored.count
      guard SyncStoredEnvelope.isStored(stored) else { return stored }
      let entry = result.key
      guard let form = try? SyncStoredEnvelope(parsing: stored),
        let opened = try? form.open(entry, key: self.key, document: { try documents?(entry, connection) })
      else { return stored }
      result.forms.append(SyncRow.Form(envelope: opened, stored: form))
      return opened.bytes
    }
    result.sequence = try row.integerIfAny(4, in: StoredRange.count)
    result.remote = blob(5)
    result.base = blob(6)
    result.pending = try row.integerIfAny(7, in: StoredRange.count)
    if let sequence = try row.integerIfAny(8, in: StoredRange.count) {
      result.inFlight = SyncRow.InFlight(
        sequence: sequence, number: try row.integer(9, in: StoredRange.count), envelope: blob(10) ?? [])
    }
    result.ancestors = row.isNull(11) ? nil : try SyncVersionVector(parsing: row.bytes(11))
    result.isUndecided = !row.isNull(12)
    result.conflict = row.textIfAny(13)
    result.attempts = try row.integer(14, in: 0...1 << 31)
    if let deleted = try row.integerIfAny(15, in: StoredRange.time) {
      result.deletion = SyncContent(
        document: nil, revision: try row.integerIfAny(16, in: 0...1 << 60) ?? 0,
        created: try row.integerIfAny(17, in: StoredRange.time) ?? 0, modified: deleted)
    }
    result.received = try row.integerIfAny(18, in: StoredRange.time)
    result.baseReceived =
      result.base == nil ? nil : try row.integerIfAny(19, in: StoredRange.time) ?? result.received
    result.isTombstone = !row.isNull(20)
    return result
  }

  /// Writes a row; an id of 0 inserts one. Clears the record of past failures.
  func write(_ row: SyncRow) throws {
    let size = row.entry.map { SyncStoredEnvelope.size(of: $0) } ?? 0
    let tombstone: Binding = row.isTombstone && row.sequence != nil ? .integer(1) : .null
    func stored(_ envelope: [UInt8]?, isUnchanged: Bool?) throws -> [UInt8]? {
      try envelope.map { try self.stored($0, of: row, isUnchanged: isUnchanged) }
    }
    let remote = try stored(row.remote, isUnchanged: nil)
    let base = try stored(row.base, isUnchanged: row.pending == nil)
    let inFlight = try stored(
      row.inFlight?.envelope, isUnchanged: row.inFlight.map { $0.sequence == row.pending } ?? false)
    let baseReceived: Binding = row.baseReceived == row.received ? .null : Binding(row.baseReceived)
    let length = [remote, base, inFlight].reduce(0) { $0 + ($1?.count ?? 0) }
    // SQLite leaves a row that becomes shorter in its page, and merges pages only where rows are deleted.
    let isMoved = row.id != 0 && length + 128 < row.storedLength
    if isMoved { try deleteRow(row.id) }
    try Self.binding(
      remote: remote, base: base, inFlight: inFlight, ancestors: row.ancestors?.bytes
    ) {
      remote, base, inFlight, ancestors in
      if row.id == 0 || isMoved {
        try connection.run(
          """
          INSERT INTO sync_entry(id, collection, key, generation, seq, size, remote, base, pending, in_flight_sequence,
          in_flight_number, in_flight_envelope, ancestors, undecided, conflict, attempts, deleted, revision, created,
          received, base_received, tombstone)
          VALUES(nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)
          """, .integer(row.id), .integer(try makeCollection(row.key.collection)), .text(row.key.id),
          .integer(row.generation),
          Binding(row.sequence), .integer(size), remote, base, Binding(row.pending),
          Binding(row.inFlight?.sequence), Binding(row.inFlight?.number), inFlight, ancestors,
          row.isUndecided ? .integer(1) : .null, Binding(row.conflict), Binding(row.deletion?.modified),
          Binding(row.deletion?.revision), Binding(row.deletion?.created), Binding(row.received),
          baseReceived, tombstone)
      } else {
        try connection.run(
          """
          UPDATE sync_entry SET generation = ?, seq = ?, size = ?, remote = ?, base = ?, pending = ?,
          in_flight_sequence = ?, in_flight_number = ?, in_flight_envelope = ?, ancestors = ?, undecided = ?,
          conflict = ?, attempts = 0, retry_at = NULL, error = NULL, error_code = NULL, deleted = ?, revision = ?,
          created = ?, received = ?, base_received = ?, tombstone = ? WHERE id = ?
          """, .integer(row.generation), Binding(row.sequence), .integer(size), remote, base,
          Binding(row.pending), Binding(row.inFlight?.sequence), Binding(row.inFlight?.number), inFlight,
          ancestors, row.isUndecided ? .integer(1) : .null, Binding(row.conflict),
          Binding(row.deletion?.modified), Binding(row.deletion?.revision), Binding(row.deletion?.created),
          Binding(row.received), baseReceived, tombstone, .integer(row.id))
      }
    }
    try SyncAssetTables(connection).note(row, id: row.id == 0 ? connection.lastInsertedRow : row.id)
  }

  /// - Throws: `.damaged` when there is no such row
  func delete(_ id: Int64) throws {
    try SyncAssetTables(connection).forget(id)
    try deleteRow(id)
  }

  private func deleteRow(_ id: Int64) throws {
    try connection.run("DELETE FROM sync_entry WHERE id = ?", .integer(id))
    guard connection.changes == 1 else { throw RowOrder.damaged("sync_entry") }
  }

  private static func binding(
    remote: [UInt8]?, base: [UInt8]?, inFlight: [UInt8]?, ancestors: [UInt8]?,
    _ body: (_ remote: Binding, _ base: Binding, _ inFlight: Binding, _ ancestors: Binding) throws -> Void
  ) throws {
    try (remote ?? []).withUnsafeBytes { first in
      try (base ?? []).withUnsafeBytes { second in
        try (inFlight ?? []).withUnsafeBytes { third in
          try (ancestors ?? []).withUnsafeBytes { fourth in
            try body(
              remote == nil ? .null : .blob(first), base == nil ? .null : .blob(second),
              inFlight == nil ? .null : .blob(third), ancestors == nil ? .null : .blob(fourth))
          }
        }
      }
    }
  }
}
