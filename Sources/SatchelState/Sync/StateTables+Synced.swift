import SatchelCore
import SatchelStorage

/// The rows of `state_synced`.
extension StateTables {
  /// A row: the mark, and when the value was removed.
  struct Synced: Equatable {
    var mark: StateMark
    /// Unix milliseconds; nil while the value exists, and for lists, sets and scores.
    var removedAt: Int64?
  }

  /// Whether a store has the tables of state.
  static func exist(_ connection: Connection) throws -> Bool {
    try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'state_synced'") > 0
  }

  /// Returns the row of a value, a list, a set or scores; nil when they were never marked.
  ///
  /// - Throws: `.damaged` for invalid bounds
  func synced(_ id: StateID) throws -> Synced? {
    try connection.first(
      """
      SELECT is_synced, removed_at, item_limit, max_age, is_unique, minimum, maximum FROM state_synced
      WHERE kind = ? AND name = ?
      """, .text(id.kind.rawValue), .text(id.name.text)
    ) { row in
      Synced(
        mark: StateMark(isSynced: row.flag(0), bounds: try Self.bounds(row)),
        removedAt: try row.integerIfAny(1, in: StoredRange.time))
    }
  }

  private static func bounds(_ row: Statement) throws -> StateBounds? {
    if !row.isNull(4) {
      return .list(
        StateListBounds(
          limit: try row.integerIfAny(2, in: StateSchema.itemLimit).flatMap { Int(exactly: $0) },
          maxAge: try row.integerIfAny(3, in: StateSchema.maxAge), isUnique: row.flag(4)))
    }
    if row.isNull(5) { return nil }
    let (minimum, maximum) = (row.real(5), row.real(6))
    guard minimum.isFinite, maximum.isFinite, minimum <= maximum else {
      throw row.damage(5, "\(minimum) to \(maximum) are not bounds")
    }
    return .scores(minimum...maximum)
  }

  /// Returns the mark of a value, a list, a set or scores; nil when it is not set, or invalid.
  func mark(_ id: StateID) throws -> StateMark? {
    do {
      return try synced(id)?.mark
    } catch let error as SatchelError where error.code == .damaged {
      return nil
    }
  }

  /// Whether a value, a list, a set or scores are synchronized.
  func isSynced(_ id: StateID) throws -> Bool {
    try connection.number(
      "SELECT is_synced FROM state_synced WHERE kind = ? AND name = ?", .text(id.kind.rawValue),
      .text(id.name.text)) == 1
  }

  func set(_ mark: StateMark, of id: StateID) throws {
    var list: (limit: Binding, age: Binding, isUnique: Binding) = (.null, .null, .null)
    var scores: (minimum: Binding, maximum: Binding) = (.null, .null)
    switch mark.bounds {
    case .list(let bounds):
      if let limit = bounds.limit { list.limit = .integer(Int64(limit)) }
      if let age = bounds.maxAge { list.age = .integer(age) }
      list.isUnique = .integer(bounds.isUnique ? 1 : 0)
    case .scores(let bounds): scores = (.real(bounds.lowerBound), .real(bounds.upperBound))
    case nil: break
    }
    try connection.run(
      """
      INSERT INTO state_synced(kind, name, is_synced, item_limit, max_age, is_unique, minimum, maximum)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET is_synced = excluded.is_synced,
      item_limit = excluded.item_limit, max_age = excluded.max_age, is_unique = excluded.is_unique,
      minimum = excluded.minimum, maximum = excluded.maximum
      """, .text(id.kind.rawValue), .text(id.name.text), .integer(mark.isSynced ? 1 : 0), list.limit,
      list.age, list.isUnique, scores.minimum, scores.maximum)
  }

  /// Sets the time when a marked value was removed; nil when it was set again.
  func setRemoval(of name: StateName, at time: Int64?) throws {
    try connection.run(
      "UPDATE state_synced SET removed_at = ? WHERE kind = 'value' AND name = ?",
      time.map { .integer(min(max($0, 0), StoreClock.latest)) } ?? .null, .text(name.text))
  }

  /// Returns the ids of synchronized state, in order.
  ///
  /// - Parameter id: the last id of the previous call
  func syncedIDs(after id: StateID?, limit: Int) throws -> [String] {
    var ids: [String] = []
    var last = (kind: id?.kind.rawValue ?? "", name: id?.name.text ?? "")
    try connection.each(
      """
      SELECT kind, name FROM state_synced WHERE (kind, name) > (?, ?) AND is_synced = 1
      ORDER BY kind, name LIMIT ?
      """, .text(last.kind), .text(last.name), .integer(Int64(limit))
    ) { row in
      let next = (kind: row.text(0), name: row.text(1))
      if next.kind == last.kind {
        try RowOrder.check(next.name, after: last.name, of: "state_synced")
      } else {
        try RowOrder.check(next.kind, after: last.kind, of: "state_synced")
      }
      let id = "\(next.kind)/\(next.name)"
      // The next call could not go on after it, and would begin again.
      guard StateID(id) != nil else { throw SatchelError(.damaged, "state_synced: \(id): names no state") }
      ids.append(id)
      last = next
    }
    return ids
  }

  // MARK: Content

  /// Returns a value as it is stored, and its time.
  func timedValue(_ name: StateName) throws -> (bytes: [UInt8], isSealed: Bool, time: Int64)? {
    try connection.first(
      "SELECT value, is_sealed, time FROM state_value WHERE space = ? AND key = ?", .text(StateSpace.values),
      .text(name.text)
    ) { (Array($0.bytes(0)), $0.flag(1), try $0.integer(2)) }
  }

  /// Returns the time of the newest row of a space; 0 when it has none.
  func newestTime(in space: String) throws -> Int64 {
    try connection.number("SELECT max(time) FROM state_value WHERE space = ?", .text(space))
  }

  /// Returns the time of the newest item of a list; 0 when it has none.
  func newestItemTime(_ list: StateName) throws -> Int64 {
    try connection.number(
      "SELECT time FROM state_item WHERE list = ? ORDER BY number DESC LIMIT 1", .text(list.text))
  }
}
