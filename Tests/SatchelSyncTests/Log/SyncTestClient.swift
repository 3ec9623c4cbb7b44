import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

@testable import SatchelSync

/// The edits that a content includes, each set under a number that travels as the content's revision. The engine never
/// looks at it.
// Unchecked: one thread at a time uses it.
final class SyncGhosts: @unchecked Sendable {
  private var sets: [Set<String>] = [[]]
  private var numbers: [Set<String>: Int64] = [[]: 0]

  subscript(number: Int64) -> Set<String> {
    sets.indices.contains(Int(number)) ? sets[Int(number)] : []
  }

  func number(of edits: Set<String>) -> Int64 {
    if let number = numbers[edits] { return number }
    sets.append(edits)
    numbers[edits] = Int64(sets.count - 1)
    return Int64(sets.count - 1)
  }
}

/// Local content of a test: documents of a few text fields.
struct SyncTestDocument: Equatable {
  /// Nil when it was deleted, or never existed.
  var fields: [String: String]?
  var modified: Int64 = 0
  var edits: Set<String> = []

  static func bytes(_ fields: [String: String]?) -> [UInt8]? {
    guard let fields else { return nil }
    var object = JSONObject()
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) { object[name] = .string(value) }
    return try? JSONValue.object(object).serialized()
  }

  static func fields(_ bytes: [UInt8]?) throws -> [String: String]? {
    guard let bytes, case .object(let object) = try JSONValue(parsing: bytes) else { return nil }
    return object.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
  }
}

/// A subject for tests: it keeps documents, decides by a policy, and remembers what it has overridden.
// Unchecked: one thread at a time uses it.
final class SyncTestClient: SyncLogClient, @unchecked Sendable {
  enum Policy: CaseIterable { case newest, merge, ask, local, remote }

  static let tables = ["test_document", "test_lost", "test_open"]
  private static let schema = """
    CREATE TABLE IF NOT EXISTS test_document(
      collection TEXT, key TEXT, document BLOB, modified INTEGER, ghost INTEGER, PRIMARY KEY(collection, key));
    CREATE TABLE IF NOT EXISTS test_lost(edit TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS test_open(
      collection TEXT, key TEXT, checksum TEXT, document BLOB, ghost INTEGER, PRIMARY KEY(collection, key));
    """

  let database: Database
  /// Whether some of the documents are sensitive where the sync log is encrypted.
  var hasSensitive = false
  var assets: (any AssetStorage)?

  private func isSensitive(_ key: SyncKey) -> Bool {
    hasSensitive && key.id.utf8.reduce(0) { $0 &+ Int($1) } % 2 == 0
  }
  let ghosts: SyncGhosts
  var policy = Policy.newest
  var declared = ["things"]
  /// Ids that are refused, as by a relation.
  var refused: Set<SyncKey> = []
  /// Ids whose content cannot be sent.
  var unsendable: Set<SyncKey> = []
  /// Edits that need not survive: what is equal on both sides was made twice.
  var fine: Set<String> = []
  /// Takes forks as if nothing had been lost.
  var takesForksPlainly = false
  var onDecide: (SyncUndecided, SyncTestDocument) -> Void = { _, _ in }

  init(_ database: Database, _ ghosts: SyncGhosts = SyncGhosts()) throws {
    self.database = database
    self.ghosts = ghosts
    try database.write { try $0.connection.execute(Self.schema) }
  }

  // MARK: The app

  func document(_ key: SyncKey, _ connection: Connection) throws -> SyncTestDocument {
    try connection.first(
      "SELECT document, modified, ghost FROM test_document WHERE collection = ? AND key = ?",
      .text(key.collection), .text(key.id)
    ) { row in
      SyncTestDocument(
        fields: try SyncTestDocument.fields(row.isNull(0) ? nil : Array(row.bytes(0))),
        modified: row.anyInteger(1), edits: ghosts[row.anyInteger(2)])
    } ?? SyncTestDocument()
  }

  func document(_ key: SyncKey) throws -> SyncTestDocument { try database.read { try document(key, $0) } }

  func documents() throws -> [String: [String: String]] {
    try database.read { connection in
      var found: [String: [String: String]] = [:]
      try connection.each("SELECT collection, key, document FROM test_document WHERE document IS NOT NULL") {
        found["\($0.text(0))/\($0.text(1))"] = try SyncTestDocument.fields(Array($0.bytes(2)))
      }
      return found
    }
  }

  private func set(_ key: SyncKey, _ document: SyncTestDocument, _ connection: Connection) throws {
    let bytes = SyncTestDocument.bytes(document.fields)
    if let old = try self.document(of: key, connection) {
      var id = key.id
      try id.withUTF8 { id in
        try old.withUnsafeBytes {
          try SyncTracker.keepDocument($0, of: UnsafeRawBufferPointer(id), in: key.collection, connection)
        }
      }
    }
    try (bytes ?? []).withUnsafeBytes {
      try connection.run(
        "INSERT OR REPLACE INTO test_document(collection, key, document, modified, ghost) VALUES(?, ?, ?, ?, ?)",
        .text(key.collection), .text(key.id), bytes == nil ? .null : .blob($0), .integer(document.modified),
        .integer(ghosts.number(of: document.edits)))
    }
  }

  /// Changes documents in one transaction.
  func edit(_ changes: [(key: SyncKey, fields: [String: String]?)], edit: String? = nil, now: Int64 = 0)
    throws
  {
    try database.write { transaction in
      for change in changes {
        var document = try document(change.key, transaction.connection)
        document.fields = change.fields
        document.modified = now
        if let edit { document.edits.insert(edit) }
        try set(change.key, document, transaction.connection)
        if change.fields == nil {
          try noteDeletion(change.key, document, in: transaction)
        } else {
          try SyncTracker(transaction)?.notePut(change.key)
        }
      }
    }
  }

  /// Notes a deletion as records do: the edits of content that was never sent need not survive it.
  private func noteDeletion(
    _ key: SyncKey, _ document: SyncTestDocument, in transaction: Transaction
  ) throws {
    guard let tracker = try SyncTracker(transaction) else { return }
    let deletion = SyncContent(
      document: nil, revision: ghosts.number(of: document.edits), modified: max(document.modified, 0))
    // The row with the local state. An additional row that a pull stores is of content that this device has
    // not seen.
    let row = try tracker.row(key)?.id
    var id = key.id
    try id.withUTF8 {
      try tracker.noteDeletion(UnsafeRawBufferPointer($0), in: key.collection, deletion)
    }
    if try row == nil || tracker.row(key)?.id != row { fine.formUnion(document.edits) }
  }

  func edit(_ id: String, _ fields: [String: String]?, now: Int64 = 0) throws {
    try edit([(try SyncKey("things", id), fields)], now: now)
  }

  func lost() throws -> Set<String> {
    try database.read { connection in
      var lost: Set<String> = []
      try connection.each("SELECT edit FROM test_lost") { lost.insert($0.text(0)) }
      return lost
    }
  }

  func openConflicts() throws -> [SyncKey] {
    try database.read { connection in
      var keys: [SyncKey] = []
      try connection.each("SELECT collection, key FROM test_open ORDER BY collection, key") {
        keys.append(SyncKey(validated: $0.text(0), $0.text(1)))
      }
      return keys
    }
  }

  /// Resolves an open conflict by the content of one side.
  func resolve(_ key: SyncKey, useRemote: Bool, now: Int64) throws {
    try database.write { transaction in
      let connection = transaction.connection
      let found = try connection.first(
        "SELECT checksum, document, ghost FROM test_open WHERE collection = ? AND key = ?",
        .text(key.collection),
        .text(key.id)
      ) {
        (
          $0.text(0), try SyncTestDocument.fields($0.isNull(1) ? nil : Array($0.bytes(1))),
          ghosts[$0.anyInteger(2)]
        )
      }
      guard let (checksum, fields, edits) = found else { return }
      try close(key, connection)
      guard try SyncTracker(transaction)?.resolve(key, seen: checksum) ?? false else { return }
      var document = try document(key, connection)
      if useRemote || document.fields == fields {
        try lose(document.edits.subtracting(edits), connection)
        document.fields = fields
      }
      document.edits.formUnion(edits)
      document.modified = now
      try set(key, document, connection)
    }
  }

  private func close(_ key: SyncKey, _ connection: Connection) throws {
    try connection.run(
      "DELETE FROM test_open WHERE collection = ? AND key = ?", .text(key.collection), .text(key.id))
  }

  private func lose(_ edits: Set<String>, _ connection: Connection) throws {
    for edit in edits { try connection.run("INSERT OR IGNORE INTO test_lost VALUES(?)", .text(edit)) }
  }

  // MARK: The sync log

  func collections(_ connection: Connection) throws -> [String] { declared }

  func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing? {
    if unsendable.contains(key) { throw SatchelError(.invalid, "\(key): cannot be sent") }
    let document = try document(key, connection)
    return SyncOutgoing(
      content: SyncContent(
        document: SyncTestDocument.bytes(document.fields), revision: ghosts.number(of: document.edits),
        modified: max(document.modified, 0)), version: 1,
      // A field with a SHA-256 refers to an asset.
      assets: Set((document.fields ?? [:]).values.compactMap { AssetDigest($0) }).sorted(),
      isSensitive: isEncrypted && isSensitive(key))
  }

  func document(of key: SyncKey, _ connection: Connection) throws -> [UInt8]? {
    try connection.first(
      "SELECT document FROM test_document WHERE collection = ? AND key = ?", .text(key.collection),
      .text(key.id)
    ) { $0.isNull(0) ? nil : Array($0.bytes(0)) } ?? nil
  }

  func ids(
    of collection: String, after position: SyncIDs.Position?, limit: Int, _ connection: Connection
  ) throws -> SyncIDs {
    var ids: [String] = []
    var last = ""
    if case .id(let id) = position { last = id }
    try connection.each(
      """
      SELECT key FROM test_document WHERE collection = ? AND key > ? AND document IS NOT NULL ORDER BY key LIMIT ?
      """, .text(collection), .text(last), .integer(Int64(limit))
    ) { ids.append($0.text(0)) }
    return SyncIDs(ids, end: ids.last.map { .id($0) })
  }

  func keepLost(_ keys: [SyncKey], in transaction: Transaction) throws {
    for key in keys { try close(key, transaction.connection) }
  }

  func decide(_ entries: [SyncUndecided], isLast: Bool, in transaction: Transaction) throws -> SyncDecisions {
    SyncDecisions(decisions: try entries.map { try decide($0, transaction.connection) })
  }

  private func decide(_ entry: SyncUndecided, _ connection: Connection) throws -> SyncDecision {
    let local = try document(entry.key, connection)
    onDecide(entry, local)
    try close(entry.key, connection)
    if refused.contains(entry.key) { return .waiting }
    guard let envelope = entry.remote else {
      if entry.isChanged, local.fields != nil { return .keep }
      // Both sides have deleted it, and are equal, as where the log still has the tombstone.
      if entry.isChanged { fine.formUnion(local.edits) }
      try set(entry.key, SyncTestDocument(), connection)
      return .apply
    }
    let remote = SyncTestDocument(
      fields: try SyncTestDocument.fields(envelope.content.document), modified: envelope.content.modified,
      edits: ghosts[envelope.content.revision])
    if local.fields == remote.fields {
      fine.formUnion(local.edits.subtracting(remote.edits))
      try set(entry.key, remote, connection)
      return .match
    }
    let isChanged = entry.isChanged && !(entry.isFork && takesForksPlainly)
    if isChanged {
      if let base = try (entry.base?.unlessLocked).map({ try SyncTestDocument.fields($0.content.document) }) {
        if local.fields == base {
          fine.formUnion(local.edits.subtracting(remote.edits))
        } else if remote.fields == base {
          return try keep(entry.key, local, remote, connection)
        } else {
          return try decide(entry, local, remote, base ?? [:], connection)
        }
      } else {
        return try decide(entry, local, remote, [:], connection)
      }
    }
    try set(entry.key, remote, connection)
    return .apply
  }

  private func keep(
    _ key: SyncKey, _ local: SyncTestDocument, _ remote: SyncTestDocument, _ connection: Connection
  ) throws -> SyncDecision {
    var document = local
    document.edits.formUnion(remote.edits)
    try set(key, document, connection)
    return .keep
  }

  /// Both sides were changed.
  private func decide(
    _ entry: SyncUndecided, _ local: SyncTestDocument, _ remote: SyncTestDocument, _ base: [String: String],
    _ connection: Connection
  ) throws -> SyncDecision {
    let isNewer =
      local.modified != remote.modified
      ? local.modified > remote.modified
      : (SyncTestDocument.bytes(remote.fields) ?? []).lexicographicallyPrecedes(
        SyncTestDocument.bytes(local.fields) ?? [])
    var wins = isNewer
    switch policy {
    case .ask: return try ask(entry, remote, connection)
    case .local: wins = true
    case .remote: wins = false
    case .newest: break
    case .merge:
      if let ours = local.fields, let theirs = remote.fields {
        return try merge(entry.key, local, remote, ours, theirs, base, isNewer, connection)
      }
      wins = local.fields != nil
    }
    if wins { return try keep(entry.key, local, remote, connection) }
    try lose(local.edits.subtracting(remote.edits), connection)
    try set(entry.key, remote, connection)
    return .apply
  }

  private func ask(
    _ entry: SyncUndecided, _ remote: SyncTestDocument, _ connection: Connection
  ) throws -> SyncDecision {
    guard let envelope = entry.remote else { return .waiting }
    let bytes = SyncTestDocument.bytes(remote.fields)
    try (bytes ?? []).withUnsafeBytes {
      try connection.run(
        "INSERT OR REPLACE INTO test_open(collection, key, checksum, document, ghost) VALUES(?, ?, ?, ?, ?)",
        .text(entry.key.collection), .text(entry.key.id), .text(envelope.checksum),
        bytes == nil ? .null : .blob($0), .integer(ghosts.number(of: remote.edits)))
    }
    return .conflict
  }

  private func merge(
    _ key: SyncKey, _ local: SyncTestDocument, _ remote: SyncTestDocument, _ ours: [String: String],
    _ theirs: [String: String], _ base: [String: String], _ isNewer: Bool, _ connection: Connection
  ) throws -> SyncDecision {
    var (merged, isOverridden) = ([String: String](), false)
    for name in Set(ours.keys).union(theirs.keys) {
      let (mine, other, old) = (ours[name], theirs[name], base[name])
      if mine == other || other == old {
        merged[name] = mine
      } else if mine == old {
        merged[name] = other
      } else {
        merged[name] = isNewer ? mine : other
        isOverridden = isOverridden || !isNewer
      }
    }
    if isOverridden { try lose(local.edits.subtracting(remote.edits), connection) }
    if merged == theirs {
      try set(key, remote, connection)
      return .apply
    }
    let document = SyncTestDocument(
      fields: merged, modified: max(local.modified, remote.modified), edits: local.edits.union(remote.edits))
    try set(key, document, connection)
    return .merged
  }
}
