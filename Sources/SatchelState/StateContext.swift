import SatchelCore
import SatchelDocuments
import SatchelStorage

/// The documents of the store and the state that is known to be sensitive: saving needs both.
struct StateContext: Sendable {
  let documents: RecordStore
  let sensitive: SensitiveState
  let cache: StateCache

  init(_ documents: RecordStore, _ sensitive: SensitiveState, cache: StateCache = StateCache()) {
    (self.documents, self.sensitive, self.cache) = (documents, sensitive, cache)
  }

  /// - Throws: `.closed` where the store was released
  init(
    of documents: RecordStore?, _ sensitive: SensitiveState, _ cache: StateCache = StateCache()
  ) throws {
    guard let documents else { throw SatchelError(.closed, "the store is closed") }
    self.init(documents, sensitive, cache: cache)
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

  /// Whether this handle knows a list, a set or scores to be sensitive; see `SensitiveState`.
  func isSensitive(_ id: StateID) throws -> Bool {
    try sensitive.contains(id) {
      guard try hasTables else { return [] }
      try prepare()
      return try database.read { try StateReader.sealed($0) }.filter(\.isSensitive).map(\.id)
    }
  }
}

/// The lists, sets and scores that this handle knows to be sensitive: additions to them require the key, and
/// are sealed in the outbox file. Another handle may have marked others since; saving detects that.
final class SensitiveState: Sendable {
  private struct Known {
    /// Those in the store, read when first needed: opening a store does not need them.
    var stored: Set<StateID>?
    var noted: [StateID: Bool] = [:]
  }
  private let known = Locked(Known())

  /// - Parameter read: returns those in the store; no lock is held meanwhile
  func contains(_ id: StateID, read: () throws -> [StateID]) throws -> Bool {
    let (noted, stored) = known.withLock { ($0.noted[id], $0.stored) }
    if let noted { return noted }
    if let stored { return stored.contains(id) }
    let ids = Set(try read())
    known.withLock { $0.stored = ids }
    return ids.contains(id)
  }

  func note(_ id: StateID, _ isSensitive: Bool) { known.withLock { $0.noted[id] = isSensitive } }
}
