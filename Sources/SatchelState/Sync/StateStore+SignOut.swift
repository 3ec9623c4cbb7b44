import SatchelCore
import SatchelStorage

/// Signing out: what is synchronized or sensitive is the user's, other state is the device's.
extension StateStore {
  /// The number of values, lists, sets and scores that are marked for synchronizing and have content.
  package func countForSync(_ connection: Connection) throws -> Int64 {
    guard try database.has(StateSchema.subject) else { return 0 }
    let tables = StateTables(connection: connection)
    return Int64(try tables.userIDs().filter { try tables.isSynced($0) && tables.hasContent($0) }.count)
  }

  /// Removes synchronized and sensitive content, as a part of signing out; none of it is a removal that is
  /// synchronized. What the host marked stays marked.
  package func signOut(in transaction: Transaction) throws {
    guard try database.has(StateSchema.subject) else { return }
    let connection = transaction.connection
    let tables = StateTables(connection: connection)
    let changed = try tables.userIDs().filter { try tables.hasContent($0) }
    for id in changed {
      switch id.kind {
      case .value:
        try connection.run(
          "DELETE FROM state_value WHERE space = ? AND key = ?", .text(StateSpace.values), .text(id.name.text)
        )
      case .list, .set, .scores: try tables.clear(id)
      }
    }
    try connection.run("DELETE FROM state_waiting")
    try connection.run("UPDATE state_synced SET removed_at = NULL")
    // Reserved names say what the user read, also in the change log.
    try connection.run(
      "DELETE FROM state_synced WHERE name >= ? AND name < ?", .text(StateName.reserved),
      .text(StateName.afterReserved))
    try connection.run("UPDATE state_sensitive SET sealed_by = x''")
    transaction.note(changed.filter { !$0.name.isReserved })
    if changed.contains(where: \.name.isReserved) { transaction.note(subject: .stories, keys: ["*"]) }
  }
}

extension StateTables {
  /// The state that is marked for synchronizing, or sensitive.
  fileprivate func userIDs() throws -> [StateID] {
    var ids: [StateID] = []
    try connection.each(
      """
      SELECT kind || '/' || name FROM state_synced WHERE is_synced = 1
      UNION SELECT kind || '/' || name FROM state_sensitive
      UNION SELECT 'value/' || key FROM state_value WHERE space = 'value' AND is_sealed = 1
      """
    ) { row in
      if let id = StateID(row.text(0)) { ids.append(id) }
    }
    return ids
  }

  fileprivate func hasContent(_ id: StateID) throws -> Bool {
    id.kind == .value ? try timedValue(id.name) != nil : try hasRows(id)
  }
}
