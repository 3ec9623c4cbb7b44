import SatchelCore
import SatchelJSON
import SatchelStorage

extension StateStore {
  /// Returns the findings in the state tables. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(StateSchema.subject) else { return [] }
    return try database.read { connection in
      var check = StateCheck(StateTables(connection: connection, keyring: database.keyring))
      try check.run()
      return check.findings
    }
  }
}

/// Checks the state tables: that values have the kind of their space, that stored identities match the
/// values, and that sensitive content is sealed. Sealed content is checked when its key is set.
private struct StateCheck {
  let tables: StateTables
  private(set) var findings: [StoreFinding] = []
  private var connection: Connection { tables.connection }
  /// The sealing of sensitive rows; nil when the key is not set.
  private var sealings: [StateID: StateSealing?] = [:]

  init(_ tables: StateTables) { self.tables = tables }

  mutating func run() throws {
    try checkSensitive()
    try connection.each("SELECT space, key, is_sealed, value FROM state_value") { row in
      let (space, key) = (row.text(0), row.text(1))
      guard let defect = defect(of: Array(row.bytes(3)), isSealed: row.flag(2), key, in: space) else {
        return
      }
      report("state_value", "\(space), \(key): \(defect)")
    }
    var last: (list: String, time: Int64)?
    try connection.each(
      "SELECT list, number, time, identity, value, is_sealed FROM state_item ORDER BY list, number"
    ) { row in
      let (list, time) = (row.text(0), row.anyInteger(2))
      if let last, last.list == list, last.time > time {
        report(
          "state_item", "list \(list), item \(row.anyInteger(1)) has an earlier time than the item before it")
      }
      last = (list, time)
      let defect = defect(
        of: Array(row.bytes(4)), isSealed: row.flag(5), Array(row.bytes(3)), in: StateName(sound: list))
      if let defect { report("state_item", "list \(list), item \(row.anyInteger(1)) \(defect)") }
    }
    try checkSynced()
    try checkMigrations()
  }

  private mutating func checkSensitive() throws {
    try connection.each("SELECT kind, name, sealed_by FROM state_sensitive") { row in
      let (text, name) = ("\(row.text(0))/\(row.text(1))", row.bytes(2))
      guard let id = StateID(text), id.kind != .value else {
        return report("state_sensitive", "\(text): is not a list, a set or scores")
      }
      sealings[id] = .some(try? tables.sealing(of: id))
      if !name.isEmpty, name.count != EncryptionKey.nameLength {
        report("state_sensitive", "\(text): the name of its key is damaged")
      } else if name.isEmpty, try tables.hasRows(id) {
        report("state_sensitive", "\(text): lacks the name of its key")
      }
    }
    try connection.each("SELECT kind, name, operation FROM state_waiting") { row in
      let text = "\(row.text(0))/\(row.text(1))"
      let operation = try? StateEntry.operation(JSONValue(parsing: row.bytes(2)), writer: 0, keys: [:])
      report(
        "state_waiting",
        operation?.target.id.text == text
          ? "\(text): a change waits for the encryption key" : "\(text): a change that waits is damaged")
    }
  }

  private mutating func checkMigrations() throws {
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

  /// Whether a kind of synchronized state may have the bounds.
  private static func isOfKind(_ bounds: StateBounds?, _ kind: Change.StateKey.Kind) -> Bool {
    switch (bounds, kind) {
    case (nil, _), (.list, .list), (.scores, .scores): true
    default: false
    }
  }

  private mutating func report(_ code: String, _ message: String) {
    findings.append(StoreFinding(code: code, message: message))
  }

  /// Returns the reason why a value cannot belong to its space; nil when it can.
  private func defect(of bytes: [UInt8], isSealed: Bool, _ key: String, in space: String) -> String? {
    if space == StateSpace.values {
      if isSealed { return nil }
      return (try? bytes.withUnsafeBytes { try JSONScanner.check($0) }) == nil ? "is not JSON" : nil
    }
    guard let id = Self.id(of: space) else { return "is in an unknown space" }
    if let defect = defect(of: bytes, isSealed: isSealed, in: id) { return defect }
    guard let sealing = isSealed ? sealings[id] ?? nil : StateSealing(plain: id) else { return nil }
    do {
      let found = try tables.content(bytes, isSealed: isSealed, key, sealing)
      guard isSealed || id.kind == .scores else {
        let identity = try ValueIdentity(JSONValue(parsing: bytes))
        return identity.hexadecimal == key ? nil : "is stored under another member"
      }
      return sealing.row(of: found.key) == key || !isSealed ? nil : "is stored under another key"
    } catch {
      if isSealed { return "cannot be opened" }
      return id.kind == .scores ? "is not a score: a finite number" : "is not JSON"
    }
  }

  /// The set or the scores of a space.
  private static func id(of space: String) -> StateID? {
    // By bytes, not characters: a combining mark may follow the slash.
    for (kind, prefix) in [(Change.StateKey.Kind.set, StateSpace.sets), (.scores, StateSpace.scores)]
    where space.utf8.starts(with: prefix.utf8) {
      let name = String(decoding: space.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
      return StateID(kind, StateName(sound: name))
    }
    return nil
  }

  /// Returns the mismatch between the value of an item and its identity; nil when they match.
  private func defect(of bytes: [UInt8], isSealed: Bool, _ index: [UInt8], in list: StateName) -> String? {
    let id = StateID(.list, list)
    if let defect = defect(of: bytes, isSealed: isSealed, in: id) { return defect }
    guard let sealing = isSealed ? sealings[id] ?? nil : StateSealing(plain: id) else { return nil }
    guard let text = try? sealing.open(bytes, isSealed: isSealed, at: index.hexadecimal),
      let value = try? JSONValue(parsing: text), let identity = try? ValueIdentity(value)
    else { return isSealed ? "cannot be opened" : "is not JSON" }
    return sealing.index(of: identity) == index ? nil : "is indexed under another value"
  }

  /// Returns the mismatch between a row and the sealing of its list, set or scores; nil when they match.
  private func defect(of bytes: [UInt8], isSealed: Bool, in id: StateID) -> String? {
    guard isSealed == (sealings[id] != nil) else {
      return isSealed
        ? "is sealed, and its \(id.kind.rawValue) is not sensitive" : "is sensitive, and not sealed"
    }
    return isSealed && SealedValue.keyName(of: bytes) == nil ? "is not sealed" : nil
  }
}
