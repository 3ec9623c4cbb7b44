import SatchelCore
import SatchelJSON
import SatchelDocuments
import SatchelStorage

/// The documents of state in one snapshot of the store.
struct StateReader {
  private let documents: ReservedReader
  private let keyring: Keyring
  private let cache: StateCache?
  /// The store's time.
  let now: Int64

  /// - Parameter cache: of what is committed; nil inside a transaction
  init(_ documents: ReservedReader, _ keyring: Keyring, _ cache: StateCache?, now: Int64) {
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
    guard let revision = try documents.revision(of: id.text) else { return nil }
    if let known = cache[id, revision] { return known }
    guard let (document, read) = try stored(id) else { return nil }
    cache.keep(document, read)
    return document
  }

  private func stored(_ id: StateID) throws -> (document: StateDocument, revision: Int64)? {
    try documents.document(id.text).map { (try StateDocument($0, of: id), $0.revision) }
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

  /// Returns the names of the values that begin with a prefix, with their documents if those are readable.
  func values(prefix: String) throws -> [StateName: StateDocument?] {
    var values: [StateName: StateDocument?] = [:]
    let start = "\(Change.StateKey.Kind.value.rawValue)/\(prefix)"
    try documents.each { key, stored in
      guard key.utf8.starts(with: start.utf8), let id = StateID(key) else { return }
      let document = try? StateDocument(stored, of: id)
      if document?.hasContent ?? true { values[id.name] = document }
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

  /// Returns the first state that is sealed with another key; nil when there is none.
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

/// The lists, sets and scores that were read last, by the revisions of their documents: whether a set has a member is
/// one look-up.
final class StateCache: Sendable {
  /// The maximum number of documents that are kept.
  private static let limit = 8

  private let known = Locked<[(revision: Int64, document: StateDocument)]>([])

  subscript(id: StateID, revision: Int64) -> StateDocument? {
    known.withLock { $0.first { $0.revision == revision && $0.document.id == id }?.document }
  }

  /// Keeps a document that is not sealed: plain text stays in memory no longer than it is used.
  func keep(_ document: StateDocument, _ revision: Int64) {
    guard case .plain = document.content else { return }
    known.withLock { known in
      known.removeAll { $0.document.id == document.id }
      if known.count >= Self.limit { known.removeFirst() }
      known.append((revision, document))
    }
  }

  func forgetAll() { known.withLock { $0 = [] } }
}
