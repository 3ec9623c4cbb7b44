import SatchelCore
import SatchelJSON
import SatchelStorage

/// The rows of `state_waiting`: changes of sensitive lists, sets and scores that were saved without the key that they
/// need.
extension StateTables {
  /// Whether changes of a list, a set or scores wait: later ones must be applied after them.
  func hasWaiting(_ id: StateID) throws -> Bool {
    try connection.number(
      "SELECT EXISTS(SELECT 1 FROM state_waiting WHERE kind = ? AND name = ?)", .text(id.kind.rawValue),
      .text(id.name.text)) == 1
  }

  /// Returns the lists, sets and scores with waiting changes.
  func waitingIDs() throws -> [StateID] {
    var ids: [StateID] = []
    try connection.each("SELECT DISTINCT kind, name FROM state_waiting") { row in
      if let id = StateID("\(row.text(0))/\(row.text(1))") { ids.append(id) }
    }
    return ids
  }

  func keepWaiting(_ operation: StateOperation) throws {
    let id = operation.target.id
    let bytes = try StateEntry.sealed(operation, by: keyring?.current).serialized()
    try bytes.withUnsafeBytes {
      try connection.run(
        "INSERT INTO state_waiting(kind, name, operation) VALUES(?, ?, ?)", .text(id.kind.rawValue),
        .text(id.name.text), .blob($0))
    }
  }

  func forgetWaiting(_ id: StateID) throws {
    try connection.run(
      "DELETE FROM state_waiting WHERE kind = ? AND name = ?", .text(id.kind.rawValue), .text(id.name.text))
  }

  /// Applies waiting changes: those of each list, set or scores until the first whose key is not set.
  ///
  /// - Parameter now: replaces times of a clock that was ahead
  /// - Returns: the changed lists, sets and scores
  func applyWaiting(at now: Int64) throws -> StateIDs {
    var changed = StateIDs()
    for id in try waitingIDs() {
      var waiting: [(row: Int64, operation: [UInt8])] = []
      try connection.each(
        "SELECT id, operation FROM state_waiting WHERE kind = ? AND name = ? ORDER BY id",
        .text(id.kind.rawValue), .text(id.name.text)
      ) { waiting.append(($0.anyInteger(0), Array($0.bytes(1)))) }
      for (row, bytes) in waiting {
        do {
          let operation = try StateEntry.operation(
            JSONValue(parsing: bytes), writer: 0, keys: keyring?.keys ?? [:])
          if case .locked = operation.action { break }
          guard operation.target.id == id else { break }
          try apply(operation.credible(at: now))
        } catch let error as SatchelError where error.isRejection {
          break
        } catch is JSONError {
          // Only another program can have written it.
          break
        }
        try connection.run("DELETE FROM state_waiting WHERE id = ?", .integer(row))
        changed.insert(id)
      }
    }
    return changed
  }
}
