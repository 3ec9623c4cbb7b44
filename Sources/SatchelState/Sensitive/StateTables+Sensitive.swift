import SatchelCore
import SatchelStorage

/// The rows of `state_sensitive`, and those of the lists, sets and scores that they name.
extension StateTables {
  /// Returns the sensitive lists, sets and scores.
  func sensitiveIDs() throws -> [StateID] {
    var ids: [StateID] = []
    try connection.each("SELECT kind, name FROM state_sensitive ORDER BY kind, name") { row in
      if let id = StateID("\(row.text(0))/\(row.text(1))") { ids.append(id) }
    }
    return ids
  }

  /// Returns the name of the key that sealed a list, a set or scores, empty while nothing is sealed; nil when
  /// it is not sensitive.
  func sealedBy(_ id: StateID) throws -> [UInt8]? {
    if id.kind == .value { return nil }
    return try connection.first(
      "SELECT sealed_by FROM state_sensitive WHERE kind = ? AND name = ?", .text(id.kind.rawValue),
      .text(id.name.text)
    ) { Array($0.bytes(0)) }
  }

  func isSensitive(_ id: StateID) throws -> Bool { try sealedBy(id) != nil }

  /// Whether a list, a set or scores have rows.
  func hasRows(_ id: StateID) throws -> Bool {
    guard id.kind == .list else {
      return try connection.number(
        "SELECT EXISTS(SELECT 1 FROM state_value WHERE space = ?)", .text(StateSpace.of(id))) == 1
    }
    return try connection.number(
      "SELECT EXISTS(SELECT 1 FROM state_item WHERE list = ?)", .text(id.name.text))
      == 1
  }

  /// Returns how the rows of a list, a set or scores are stored.
  ///
  /// - Throws: `.unauthorized` for sensitive ones whose key is not set, or is another one
  func sealing(of id: StateID) throws -> StateSealing {
    guard let name = try sealedBy(id) else { return StateSealing(plain: id) }
    guard let keyring, let current = keyring.current else {
      throw SatchelError.keyNotSet(id.location)
    }
    if let key = keyring.keys[name] { return try StateSealing(id, by: key) }
    if try !name.isEmpty && hasRows(id) {
      throw SatchelError.otherKey(id.location)
    }
    return try StateSealing(id, by: current)
  }

  /// Returns how the rows of a list, a set or scores are stored, and notes the key that will seal them.
  ///
  /// - Throws: as `sealing(of:)`, before anything is changed
  func sealingForWriting(_ id: StateID) throws -> StateSealing {
    let sealing = try sealing(of: id)
    guard sealing.isSealed, let keyring, try sealedBy(id) != sealing.keyName else { return sealing }
    let key = try keyring.sealingKey(connection) { id.location }
    try note(key.name, of: id)
    return try StateSealing(id, by: key)
  }

  private func note(_ name: [UInt8], of id: StateID) throws {
    try name.withUnsafeBytes { name in
      try connection.run(
        "INSERT OR REPLACE INTO state_sensitive(kind, name, sealed_by) VALUES(?, ?, ?)",
        .text(id.kind.rawValue), .text(id.name.text), .blob(name))
    }
  }

  /// Sets whether a list, a set or scores are sensitive; the rows are sealed or opened.
  ///
  /// - Throws: `.unauthorized` when there are rows, and their key is not set, before anything is changed
  func setSensitive(_ id: StateID, _ isSensitive: Bool) throws {
    guard try self.isSensitive(id) != isSensitive else { return }
    let isEmpty = try !hasRows(id)
    if isSensitive {
      if isEmpty { return try note([], of: id) }
      guard let keyring else { throw SatchelError.keyNotSet(id.location) }
      let key = try keyring.sealingKey(connection) { id.location }
      try rewrite(from: StateSealing(plain: id), to: StateSealing(id, by: key))
      return try note(key.name, of: id)
    }
    if !isEmpty { try rewrite(from: sealing(of: id), to: StateSealing(plain: id)) }
    try connection.run(
      "DELETE FROM state_sensitive WHERE kind = ? AND name = ?", .text(id.kind.rawValue), .text(id.name.text))
  }

  // MARK: The key

  /// Returns the id of a list, a set or scores that are sealed with another encryption key; nil when there is none.
  func sensitive(notBy name: [UInt8]) throws -> StateID? {
    var others: [StateID] = []
    try name.withUnsafeBytes { name in
      try connection.each(
        "SELECT kind, name FROM state_sensitive WHERE sealed_by <> ? AND sealed_by <> x''", .blob(name)
      ) { row in
        if let id = StateID("\(row.text(0))/\(row.text(1))") { others.append(id) }
      }
    }
    return try others.first { try hasRows($0) }
  }

  /// Seals all lists, sets and scores that are sensitive with another key.
  func reseal(with key: EncryptionKey, _ keys: Keyring.Keys) throws {
    for id in try sensitiveIDs() {
      guard let name = try sealedBy(id), name != key.name else { continue }
      if try hasRows(id) {
        guard let old = keys[name] else {
          throw SatchelError.otherKey(id.location)
        }
        try rewrite(from: StateSealing(id, by: old), to: StateSealing(id, by: key))
      }
      // Empty ones too: another thread may still have the old key.
      try note(key.name, of: id)
    }
  }

  // MARK: Rows

  private func rewrite(from old: StateSealing, to new: StateSealing) throws {
    switch new.id.kind {
    case .value: return
    case .list: try rewriteItems(from: old, to: new)
    case .set, .scores: try rewriteRows(from: old, to: new)
    }
  }

  // In chunks, and by number: a statement must not iterate over rows that are being changed.
  private func rewriteItems(from old: StateSealing, to new: StateSealing) throws {
    let list = new.id.name.text
    var last = Int64.min
    while true {
      var part: [(number: Int64, item: StateListContent.Item)] = []
      try connection.each(
        """
        SELECT value, identity, time, is_sealed, number FROM state_item WHERE list = ? AND number > ?
        ORDER BY number LIMIT 256
        """, .text(list), .integer(last)
      ) { part.append(($0.anyInteger(4), try item($0, old))) }
      guard let end = part.last else { return }
      try RowOrder.check(end.number, after: last, of: "state_item")
      for (number, item) in part {
        let index = new.index(of: item.identity)
        try index.withUnsafeBytes { index in
          try new.seal(item.value, at: index.hexadecimal).withUnsafeBytes { value in
            try connection.run(
              "UPDATE state_item SET identity = ?, value = ?, is_sealed = ? WHERE list = ? AND number = ?",
              .blob(index), .blob(value), .integer(new.isSealed ? 1 : 0), .text(list), .integer(number))
          }
        }
      }
      last = end.number
    }
  }

  private func rewriteRows(from old: StateSealing, to new: StateSealing) throws {
    let space = StateSpace.of(new.id)
    for row in try keys(in: space, prefix: "") {
      let stored = try connection.first(
        "SELECT value, is_sealed, time FROM state_value WHERE space = ? AND key = ?", .text(space), .text(row)
      ) { (bytes: Array($0.bytes(0)), isSealed: $0.flag(1), time: $0.anyInteger(2)) }
      guard let stored else { continue }
      let found = try content(stored.bytes, isSealed: stored.isSealed, row, old)
      try connection.run("DELETE FROM state_value WHERE space = ? AND key = ?", .text(space), .text(row))
      let target = StateTarget(
        kind: new.id.kind == .set ? .member : .score, name: new.id.name, key: found.key)
      switch found.content {
      case .member(let value): try put(target, value, new, time: stored.time)
      case .score(let score): try put(target, score, new, time: stored.time)
      }
    }
  }
}
