import SatchelCore
import SatchelSync
import SatchelStorage

/// Distinct ids, in the order in which they were inserted.
struct StateIDs {
  private(set) var ordered: [StateID] = []
  private var known: Set<StateID> = []

  mutating func insert(_ id: StateID) {
    if known.insert(id).inserted { ordered.append(id) }
  }

  func contains(_ id: StateID) -> Bool { known.contains(id) }

  mutating func insert(_ other: StateIDs) {
    for id in other.ordered { insert(id) }
  }
}

/// The changes of one transaction. The changes of synchronized state are recorded in the sync log.
struct StateTracking {
  var changed = StateIDs()
  /// Content that was not synchronized for some time: an entry may wait for the mark.
  private var resumed = StateIDs()

  mutating func add(_ mark: StateMark, of id: StateID, after previous: StateMark?) {
    changed.insert(id)
    if mark.isSynced, previous?.isSynced == false { resumed.insert(id) }
  }

  /// Adds the changes of content, of which observers are notified.
  mutating func note(_ content: StateIDs, in transaction: Transaction, of database: Database) throws {
    transaction.note(content.ordered)
    changed.insert(content)
    try note(in: transaction, of: database)
  }

  /// Records the changes, if the store is bound to a sync log.
  func note(in transaction: Transaction, of database: Database) throws {
    let tables = StateTables(connection: transaction.connection)
    let synced = try changed.ordered.filter { try tables.isSynced($0) }
    guard !synced.isEmpty, try SyncTracking.isBound(database) else { return }
    for id in synced {
      // Only a row that another program has written has a name without a key.
      guard let key = id.syncKey else { continue }
      try SyncTracking.note(key, in: transaction)
      if resumed.contains(id) { try SyncTracking.reconsider(key, in: transaction) }
    }
  }
}
