import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

/// The parts of a store that reading and saving state need.
struct StateContext: Sendable {
  let documents: RecordStore
  let cache: StateCache

  init(_ documents: RecordStore, _ cache: StateCache) { (self.documents, self.cache) = (documents, cache) }

  /// - Throws: `.closed` where the store was released
  init(of documents: RecordStore?, _ cache: StateCache) throws {
    guard let documents else { throw SatchelError(.closed, "the store is closed") }
    self.init(documents, cache)
  }

  var database: Database { documents.database }
  var outbox: Outbox { documents.outbox }
  var keyring: Keyring { database.keyring }

  /// Creates the tables of state, if the store does not have them.
  ///
  /// - Returns: whether it has them; false only for a store opened read-only
  @discardableResult
  func prepare() throws -> Bool {
    try database.prepare(OutboxSchema.subject) && documents.prepareReserved()
  }

  /// Whether the store has the tables of state.
  var hasTables: Bool {
    get throws { try documents.hasReserved && database.has(OutboxSchema.subject) }
  }

  /// Whether this handle knows a list, a set or scores to be sensitive: additions to them require the key, and are sealed
  /// in the outbox file. Another handle may have marked others since; saving detects that.
  func isSensitive(_ id: StateID) throws -> Bool {
    if let known = cache.isSensitive(id) { return known }
    var ids: Set<StateID> = []
    if try hasTables {
      try prepare()
      try database.read { connection in
        try ReservedReader.eachSealed(connection, states { if $1.isSensitive { ids.insert($0) } })
      }
    }
    cache.keep(sensitive: ids)
    return ids.contains(id)
  }
}

/// The memory of one handle: the lists, sets and scores that were read last, so that whether a set has a
/// member is one look-up, and which are sensitive.
final class StateCache: Sendable {
  /// The maximum number of documents that are kept.
  private static let limit = 8

  struct Entry: Sendable {
    var version: ReservedVersion
    var document: StateDocument
  }

  private struct Known {
    var entries: [Entry] = []
    /// The sensitive ones in the store, read when first needed: opening a store does not need them.
    var stored: Set<StateID>?
    /// Those that were learned of since.
    var noted: [StateID: Bool] = [:]
  }
  private let known = Locked(Known())

  func has(_ id: StateID) -> Bool { known.withLock { $0.entries.contains { $0.document.id == id } } }

  subscript(id: StateID, version: ReservedVersion) -> StateDocument? {
    known.withLock { $0.entries.first { $0.version == version && $0.document.id == id }?.document }
  }

  /// Keeps a document that is not sealed: plain text stays in memory no longer than it is used.
  func keep(_ entry: Entry) {
    guard !entry.document.isSealed, entry.document.id.kind != .value else { return }
    known.withLock { known in
      known.entries.removeAll { $0.document.id == entry.document.id }
      if known.entries.count >= Self.limit { known.entries.removeFirst() }
      known.entries.append(entry)
    }
  }

  /// Whether something is sensitive; nil before the store was read.
  func isSensitive(_ id: StateID) -> Bool? {
    known.withLock { $0.noted[id] ?? $0.stored?.contains(id) }
  }

  func keep(sensitive ids: Set<StateID>) { known.withLock { $0.stored = ids } }

  func note(_ id: StateID, isSensitive: Bool) { known.withLock { $0.noted[id] = isSensitive } }
}

/// Returns a visitor of documents that calls `visit` for those of state that are not damaged.
func states(
  _ visit: @escaping (StateID, StateDocument) throws -> Void
) -> (String, ReservedDocument) throws -> Void {
  { key, stored in
    if let id = StateID(key), let document = try? StateDocument(stored, of: id) { try visit(id, document) }
  }
}

extension ReservedDocuments {
  /// Returns what the store has of some state; nil when it has nothing.
  ///
  /// - Parameter cache: of what is committed
  /// - Throws: `.damaged`
  func state(_ id: StateID, _ cache: StateCache?) throws -> (
    document: StateDocument, version: ReservedVersion
  )? {
    if let cache, id.kind != .value, cache.has(id) {
      guard let version = try version(of: id.text) else { return nil }
      if let known = cache[id, version] { return (known, version) }
    }
    return try document(id.text).map { (try StateDocument($0, of: id), $0.version) }
  }
}

/// The documents of state in one snapshot of the store.
struct StateReader {
  private let documents: ReservedReader
  private let keyring: Keyring
  private let cache: StateCache?
  /// The store's time.
  let now: Int64

  /// - Parameter cache: of what is committed; nil inside a transaction
  init(_ documents: ReservedReader, _ keyring: Keyring, cache: StateCache?, now: Int64) {
    (self.documents, self.keyring, self.cache, self.now) = (documents, keyring, cache, now)
  }

  var connection: Connection { documents.connection }
  /// The version of the values.
  var version: Int { Int(clamping: documents.version) }

  /// Returns what the store has of some state; nil when it has nothing.
  ///
  /// - Throws: `.damaged`
  func document(_ id: StateID) throws -> StateDocument? {
    guard let (document, version) = try documents.state(id, cache) else { return nil }
    if let cache, id.kind != .value, cache[id, version] == nil {
      cache.keep(StateCache.Entry(version: version, document: document))
    }
    return document
  }

  /// Returns the content of some state.
  ///
  /// - Throws: `.unauthorized` for sensitive content whose key is not set, `.damaged`
  func content(_ id: StateID) throws -> StateContent {
    try document(id)?.opened(keyring.keys) ?? StateContent(id.kind)
  }

  /// Returns the names of the values that begin with a prefix.
  func names(prefix: String) throws -> [StateName] {
    var names: [StateName] = []
    let start = StateID(.value, StateName(sound: prefix)).text
    try documents.keys(prefix: start, having: StateContent.member(.value)) { key in
      if let id = StateID(key) { names.append(id.name) }
    }
    return names
  }

  /// Returns the values whose names begin with a prefix, without those that are sealed or damaged.
  func values(prefix: String) throws -> [StateName: JSONValue] {
    var values: [StateName: JSONValue] = [:]
    let start = StateID(.value, StateName(sound: prefix)).text
    let visit = states { id, document in
      if case .plain(.value(let value?)) = document.content { values[id.name] = value }
    }
    try documents.each { key, stored in if key.utf8.starts(with: start.utf8) { try visit(key, stored) } }
    return values
  }

  /// Returns the host's values that are not sensitive, by key.
  ///
  /// - Throws: `.damaged`
  static func plainValues(_ connection: Connection) throws -> JSONObject {
    var values: [(name: StateName, value: JSONValue)] = []
    try ReservedReader.each(connection) { key, stored in
      guard let id = StateID(key), id.kind == .value, !id.name.isReserved else { return }
      guard case .plain(.value(let value?)) = try StateDocument(stored, of: id).content else { return }
      values.append((id.name, value))
    }
    return JSONObject(values.ordered { $0.name < $1.name }.map { ($0.name.text, $0.value) })
  }

  /// Returns the first state that is sealed with another key; nil when nothing is.
  ///
  /// - Parameter replaced: the values that do not count, because a change replaces them
  static func sealed(
    notBy name: [UInt8], except replaced: Set<StateID> = [], _ connection: Connection
  ) throws -> String? {
    var found: String?
    try ReservedReader.eachSealed(
      connection,
      states { id, document in
        guard found == nil, let key = document.keyName, key != name, !replaced.contains(id) else { return }
        found = id.kind == .value ? id.name.text : id.text
      })
    return found
  }

  /// Returns the given changes that the snapshot does not contain.
  ///
  /// The changes must have been read from memory before the snapshot was taken: a change that is saved
  /// meanwhile is recognised by its sequence number, and counts once.
  func unsaved(_ operations: [StateOperation]) throws -> [StateOperation] {
    var through: [Int64: Int64] = [:]
    return try operations.filter { operation in
      let saved = try through[operation.writer] ?? OutboxSequence(connection).saved(operation.writer)
      through[operation.writer] = saved
      return operation.sequence > saved
    }.map { $0.credible(at: now) }
  }
}
