import SatchelCore
import SatchelJSON
import SatchelStorage

extension StateStore {
  /// Returns the findings in the state tables. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(StateSchema.subject) else { return [] }
    return try database.read { connection in
      var check = StateCheck(connection: connection)
      try check.run()
      return check.findings
    }
  }
}

/// Checks the state tables: that values have the kind of their space, and that stored identities match the
/// values.
private struct StateCheck {
  let connection: Connection
  private(set) var findings: [StoreFinding] = []

  init(connection: Connection) { self.connection = connection }

  mutating func run() throws {
    try connection.each("SELECT space, key, is_sealed, value FROM state_value") { row in
      let (space, key) = (row.text(0), row.text(1))
      guard let defect = Self.defect(of: row.bytes(3), isSealed: row.flag(2), key, in: space) else { return }
      report("state_value", "\(space), \(key): \(defect)")
    }
    var last: (list: String, time: Int64)?
    try connection.each("SELECT list, number, time, identity, value FROM state_item ORDER BY list, number") {
      row in
      let (list, time) = (row.text(0), row.anyInteger(2))
      if let last, last.list == list, last.time > time {
        report(
          "state_item", "list \(list), item \(row.anyInteger(1)) has an earlier time than the item before it")
      }
      last = (list, time)
      guard let value = try? JSONValue(parsing: row.bytes(4)) else {
        return report("state_item", "list \(list), item \(row.anyInteger(1)) is not JSON")
      }
      if try ValueIdentity(value).bytes != Array(row.bytes(3)) {
        report("state_item", "list \(list), item \(row.anyInteger(1)) is indexed under another value")
      }
    }
    try checkSynced()
    try checkMigrations()
  }

  private mutating func checkMigrations() throws {
    let tables = StateTables(connection: connection)
    try connection.each("SELECT version FROM state_migration") { row in
      guard let version = Int(exactly: row.anyInteger(0)) else { return }
      do {
        _ = try tables.migration(to: version, callback: nil)
        _ = try tables.kept(to: version)
      } catch let error as SatchelError where error.code == .damaged {
        report("state_migration", error.message)
      }
    }
  }

  private mutating func checkSynced() throws {
    let tables = StateTables(connection: connection)
    try connection.each("SELECT kind, name, removed_at IS NOT NULL, is_synced FROM state_synced") { row in
      let (text, isRemoved) = ("\(row.text(0))/\(row.text(1))", row.flag(2))
      guard let id = StateID(text), id.syncKey != nil || !row.flag(3) else {
        return report("state_synced", "\(text): cannot be synchronized")
      }
      do {
        let bounds = try tables.synced(id)?.mark.bounds
        if !Self.isOfKind(bounds, id.kind) {
          report("state_synced", "\(text): has the bounds of another kind")
        }
      } catch let error as SatchelError where error.code == .damaged {
        report("state_synced", error.message)
      }
      guard isRemoved else { return }
      if id.kind != .value {
        report("state_synced", "\(text): was removed; only values can be")
      } else if try tables.value(.value(id.name)) != nil {
        report("state_synced", "\(text): was removed, and has a value")
      }
    }
  }

  /// Whether what is synchronized may have some bounds.
  private static func isOfKind(_ bounds: StateBounds?, _ kind: Change.StateKey.Kind) -> Bool {
    switch (bounds, kind) {
    case (nil, _), (.list, .list), (.scores, .scores): true
    default: false
    }
  }

  private mutating func report(_ code: String, _ message: String) {
    findings.append(StoreFinding(code: code, message: message))
  }

  /// Returns why a value cannot belong to its space; nil when it can.
  private static func defect(
    of bytes: UnsafeRawBufferPointer, isSealed: Bool, _ key: String, in space: String
  ) -> String? {
    if space == StateSpace.values {
      if isSealed { return nil }
      return (try? JSONScanner.check(bytes)) == nil ? "is not JSON" : nil
    }
    if isSealed { return "is sealed; only values can be" }
    if space.hasPrefix(StateSpace.scores) {
      let score = Double(String(decoding: bytes, as: UTF8.self))
      return score?.isFinite == true ? nil : "is not a score: a finite number"
    }
    guard space.hasPrefix(StateSpace.sets) else { return "is in an unknown space" }
    guard let value = try? JSONValue(parsing: bytes), let identity = try? ValueIdentity(value) else {
      return "is not JSON"
    }
    return identity.hexadecimal == key ? nil : "is stored under another member"
  }
}
