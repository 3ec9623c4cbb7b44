import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

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
  var versions: StateVersions {
    StateVersions(version: { Int(clamping: documents.version) }, read: documents.document)
  }

  /// Returns what the store has of some state; nil when it has nothing.
  ///
  /// - Throws: `.damaged`
  func document(_ id: StateID) throws -> StateDocument? {
    guard let cache, id.kind != .value else { return try stored(id)?.document }
    guard let version = try documents.version(of: id.text) else { return nil }
    if let known = cache[id, version] { return known }
    guard let (document, read) = try stored(id) else { return nil }
    cache.keep(StateCache.Entry(version: read, document: document))
    return document
  }

  private func stored(_ id: StateID) throws -> (document: StateDocument, version: ReservedVersion)? {
    try documents.document(id.text).map { (try StateDocument($0, of: id), $0.version) }
  }

  /// Returns the content of some state.
  ///
  /// - Throws: `.unauthorized` for sensitive content whose key is not set, `.damaged`
  func content(_ id: StateID) throws -> StateContent {
    try document(id)?.opened(keyring.keys) ?? StateContent(id.kind)
  }

  /// Visits the documents of state, in the order in which they were first written.
  ///
  /// - Throws: `.damaged`
  func each(_ visit: (StateDocument) throws -> Void) throws {
    try documents.each { key, stored in
      if let id = StateID(key) { try visit(StateDocument(stored, of: id)) }
    }
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
    try documents.each { key, stored in
      guard key.utf8.starts(with: start.utf8), let id = StateID(key) else { return }
      if case .plain(.value(let value?))? = (try? StateDocument(stored, of: id))?.content {
        values[id.name] = value
      }
    }
    return values
  }

  /// Returns the host's values that are not sensitive, by key.
  ///
  /// - Throws: `.damaged`
  static func plainValues(_ connection: Connection) throws -> JSONObject {
    var values: [(name: StateName, value: JSONValue)] = []
    try ReservedReader.each(connection) { key, stored in
      guard let id = StateID(key), id.kind == .value, !id.name.isReserved else { return }
      guard case .plain(let content) = try StateDocument(stored, of: id).content,
        let value = try content.json(at: id.location)
      else { return }
      values.append((id.name, value))
    }
    return JSONObject(values.sorted { $0.name < $1.name }.map { ($0.name.text, $0.value) })
  }

  /// Returns the documents that are sealed. Damaged ones are left out.
  static func sealed(_ connection: Connection) throws -> [StateDocument] {
    var sealed: [StateDocument] = []
    try ReservedReader.eachSealed(connection) { key, stored in
      if let id = StateID(key), let document = try? StateDocument(stored, of: id) { sealed.append(document) }
    }
    return sealed
  }

  /// Returns the first state that is sealed with another key; nil when nothing is.
  ///
  /// - Parameter replaced: the values that do not count, because a change replaces them
  static func sealed(
    notBy name: [UInt8], except replaced: Set<StateName> = [], _ connection: Connection
  ) throws -> String? {
    try sealed(connection).first { document in
      guard let key = document.keyName, key != name else { return false }
      return document.id.kind != .value || !replaced.contains(document.id.name)
    }.map { $0.id.kind == .value ? $0.id.name.text : $0.id.text }
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

/// The lists, sets and scores that were read last, by the versions of their documents: whether a set has a member is
/// one look-up.
final class StateCache: Sendable {
  /// The maximum number of documents that are kept.
  private static let limit = 8

  struct Entry: Sendable {
    var version: ReservedVersion
    var document: StateDocument
  }

  private let known = Locked<[Entry]>([])

  func has(_ id: StateID) -> Bool { known.withLock { $0.contains { $0.document.id == id } } }

  subscript(id: StateID, version: ReservedVersion) -> StateDocument? {
    known.withLock { $0.first { $0.version == version && $0.document.id == id }?.document }
  }

  /// Keeps a document that is not sealed: plain text stays in memory no longer than it is used.
  func keep(_ entry: Entry) {
    guard case .plain = entry.document.content, entry.document.id.kind != .value else { return }
    known.withLock { known in
      known.removeAll { $0.document.id == entry.document.id }
      if known.count >= Self.limit { known.removeFirst() }
      known.append(entry)
    }
  }
}
