import SatchelCore
import SatchelDocuments
import SatchelStorage

/// The documents of the store and the state that is known to be sensitive: saving needs both.
struct StateContext: Sendable {
  let documents: RecordStore
  let sensitive: SensitiveState
  let cache: StateCache

  /// - Throws: `.closed` where the store was released
  init(_ documents: RecordStore?, _ sensitive: SensitiveState, _ cache: StateCache = StateCache()) throws {
    guard let documents else { throw SatchelError(.closed, "the store is closed") }
    (self.documents, self.sensitive, self.cache) = (documents, sensitive, cache)
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
}

/// The lists, sets and scores that this handle knows to be sensitive: additions to them require the key, and
/// are sealed in the outbox file. Another handle may have marked others since; saving detects that.
final class SensitiveState: Sendable {
  private let ids: Locked<Set<StateID>>

  init(_ ids: Set<StateID> = []) { self.ids = Locked(ids) }

  func contains(_ id: StateID) -> Bool { ids.withLock { $0.contains(id) } }

  func note(_ id: StateID, _ isSensitive: Bool) {
    ids.withLock { ids in
      if isSensitive { ids.insert(id) } else { ids.remove(id) }
    }
  }
}
