import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads and writes the rows of the state tables.
struct StateTables {
  let connection: Connection
  /// The keys of sensitive lists, sets and scores; nil when these are not read.
  let keyring: Keyring?

  init(connection: Connection, keyring: Keyring? = nil) {
    self.connection = connection
    self.keyring = keyring
  }

  // MARK: Writing

  /// - Throws: `.unauthorized` for sensitive content whose key is not set, before anything is changed;
  ///   `.damaged`
  func apply(_ operation: StateOperation) throws {
    let target = operation.target
    switch operation.action {
    case .set(let value, let isSealed) where target.kind == .value:
      try putValue(target.name, value, isSealed: isSealed, time: operation.time)
      try setRemoval(of: target.name, at: nil)
    case .set(let value, _): try put(target, value, sealingForWriting(target.id), time: operation.time)
    case .remove where target.kind == .list:
      try connection.run("DELETE FROM state_item WHERE list = ?", .text(target.name.text))
      try forgetWaiting(target.id)
    case .remove where target.kind == .value:
      try delete(target)
      try setRemoval(of: target.name, at: operation.time)
    case .remove: try delete(target)
    case .push(let value, let identity, let bounds):
      try push(value, identity, bounds, time: operation.time, sealingForWriting(target.id))
    case .insert(let value, let identity, let bounds, let time):
      try insert(value, identity, bounds, time: time, sealingForWriting(target.id))
    case .drop(let identity): try drop(identity, sealing(of: target.id))
    case .add(let delta, let minimum, let maximum):
      let sealing = try sealingForWriting(target.id)
      let sum = ScoreRule.sum(try score(target, sealing), delta, minimum: minimum, maximum: maximum)
      try put(target, sum, sealing, time: operation.time)
    case .mark(let mark): try set(mark, of: target.id)
    case .locked:
      throw SatchelError.keyNotSet(target.location).at(target.id.details)
    }
  }

  /// Sets a value, which is JSON, or sealed.
  func putValue(_ name: StateName, _ value: [UInt8], isSealed: Bool, time: Int64) throws {
    try put(StateSpace.values, name.text, value, isSealed: isSealed, time: time)
  }

  private func put(_ space: String, _ row: String, _ value: [UInt8], isSealed: Bool, time: Int64) throws {
    try value.withUnsafeBytes { bytes in
      try connection.run(
        "INSERT OR REPLACE INTO state_value(space, key, time, is_sealed, value) VALUES(?, ?, ?, ?, ?)",
        .text(space), .text(row), .integer(time), .integer(isSealed ? 1 : 0), .blob(bytes))
    }
  }

  /// Adds a member; one that the set already has is not replaced.
  func put(_ target: StateTarget, _ value: [UInt8], _ sealing: StateSealing, time: Int64) throws {
    let row = sealing.row(of: target.key ?? target.name)
    try sealing.seal(value, at: row).withUnsafeBytes { bytes in
      try connection.run(
        "INSERT OR IGNORE INTO state_value(space, key, time, is_sealed, value) VALUES(?, ?, ?, ?, ?)",
        .text(target.space), .text(row), .integer(time), .integer(sealing.isSealed ? 1 : 0), .blob(bytes))
    }
  }

  /// Sets a score.
  func put(_ target: StateTarget, _ score: Double, _ sealing: StateSealing, time: Int64) throws {
    let key = target.key ?? target.name
    let row = sealing.row(of: key)
    let value =
      sealing.isSealed ? sealing.seal(SealedScore.text(of: score, key), at: row) : Array("\(score)".utf8)
    try put(target.space, row, value, isSealed: sealing.isSealed, time: time)
  }

  private struct Place {
    var number: Int64
    var time: Int64
  }

  private func newest(_ list: String) throws -> Place? {
    try connection.first(
      "SELECT number, time FROM state_item WHERE list = ? ORDER BY number DESC LIMIT 1", .text(list)
    ) { Place(number: try $0.integer(0, in: StoredRange.count), time: try $0.integer(1)) }
  }

  private func push(
    _ value: [UInt8], _ identity: ValueIdentity, _ bounds: StateListBounds, time: Int64,
    _ sealing: StateSealing
  ) throws {
    let list = sealing.id.name.text
    let newest = try newest(list)
    if bounds.isUnique { try drop(identity, sealing) }
    let place = Place(number: (newest?.number ?? 0) + 1, time: max(time, newest?.time ?? 0))
    try insert(value, identity, at: place, sealing)
    try trim(list, bounds, newest: place.time)
  }

  /// Inserts an item in the order of its time.
  private func insert(
    _ value: [UInt8], _ identity: ValueIdentity, _ bounds: StateListBounds, time: Int64,
    _ sealing: StateSealing
  ) throws {
    let list = sealing.id.name.text
    if bounds.isUnique {
      let isThere = try sealing.index(of: identity).withUnsafeBytes {
        try connection.number(
          "SELECT EXISTS(SELECT 1 FROM state_item WHERE list = ? AND identity = ? AND time >= ?)",
          .text(list),
          .blob($0), .integer(time))
      }
      if isThere == 1 { return }
    }
    guard let newest = try newest(list), newest.time > time else {
      return try push(value, identity, bounds, time: time, sealing)
    }
    if bounds.isUnique { try drop(identity, sealing) }
    let next = try connection.number(
      "SELECT min(number) FROM state_item WHERE list = ? AND time > ?", .text(list), .integer(time))
    // In two steps: no two items may have the same number in between.
    try connection.run(
      "UPDATE state_item SET number = -number WHERE list = ? AND number >= ?", .text(list), .integer(next))
    try connection.run(
      "UPDATE state_item SET number = 1 - number WHERE list = ? AND number < 0", .text(list))
    try insert(value, identity, at: Place(number: next, time: time), sealing)
    try trim(list, bounds, newest: newest.time)
  }

  private func insert(
    _ value: [UInt8], _ identity: ValueIdentity, at place: Place, _ sealing: StateSealing
  ) throws {
    let index = sealing.index(of: identity)
    try index.withUnsafeBytes { identity in
      try sealing.seal(value, at: index.hexadecimal).withUnsafeBytes { value in
        try connection.run(
          "INSERT INTO state_item(list, number, time, identity, is_sealed, value) VALUES(?, ?, ?, ?, ?, ?)",
          .text(sealing.id.name.text), .integer(place.number), .integer(place.time), .blob(identity),
          .integer(sealing.isSealed ? 1 : 0), .blob(value))
      }
    }
  }

  /// Replaces all items of a list.
  ///
  /// - Parameter items: the newest first
  func replaceItems(of list: StateName, by items: [StateListContent.Item]) throws {
    let sealing = try sealingForWriting(StateID(.list, list))
    try connection.run("DELETE FROM state_item WHERE list = ?", .text(list.text))
    for (index, item) in items.reversed().enumerated() {
      try insert(item.value, item.identity, at: Place(number: Int64(index + 1), time: item.time), sealing)
    }
  }

  /// Removes the items that exceed the bounds.
  private func trim(_ list: String, _ bounds: StateListBounds, newest time: Int64) throws {
    // Times never decrease, so the items that are too old are a contiguous range, and only that range is
    // read.
    if let age = bounds.maxAge {
      try connection.run(
        """
        DELETE FROM state_item WHERE list = ?1 AND number < (
          SELECT number FROM state_item WHERE list = ?1 AND time >= ?2 ORDER BY number LIMIT 1)
        """, .text(list), .integer(time - age))
    }
    if let limit = bounds.limit {
      try connection.run(
        """
        DELETE FROM state_item WHERE list = ?1 AND number <= (
          SELECT number FROM state_item WHERE list = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
        """, .text(list), .integer(Int64(limit)))
    }
  }

  private func drop(_ identity: ValueIdentity, _ sealing: StateSealing) throws {
    try sealing.index(of: identity).withUnsafeBytes {
      try connection.run(
        "DELETE FROM state_item WHERE list = ? AND identity = ?", .text(sealing.id.name.text), .blob($0))
    }
  }

  func delete(_ target: StateTarget) throws {
    let row = try row(of: target)
    try connection.run(
      "DELETE FROM state_value WHERE space = ? AND key = ?", .text(target.space), .text(row))
  }

  // MARK: Reading

  private func row(of target: StateTarget) throws -> String {
    target.kind == .value ? target.row : try sealing(of: target.id).row(of: target.key ?? target.name)
  }

  /// Returns a stored value; for a member, whether it is stored.
  func value(_ target: StateTarget) throws -> (bytes: [UInt8], isSealed: Bool)? {
    let row = try row(of: target)
    return try connection.first(
      "SELECT value, is_sealed FROM state_value WHERE space = ? AND key = ?", .text(target.space), .text(row)
    ) { (Array($0.bytes(0)), $0.anyInteger(1) == 1) }
  }

  /// Returns a score; nil when nothing was added to it.
  func score(_ target: StateTarget) throws -> Double? { try score(target, sealing(of: target.id)) }

  private func score(_ target: StateTarget, _ sealing: StateSealing) throws -> Double? {
    let row = sealing.row(of: target.key ?? target.name)
    let found = try connection.first(
      "SELECT value, is_sealed FROM state_value WHERE space = ? AND key = ?", .text(target.space), .text(row)
    ) { try content(Array($0.bytes(0)), isSealed: $0.flag(1), row, sealing).content }
    guard case .score(let score)? = found else { return nil }
    return score
  }

  /// The content of a row of state_value.
  enum Content {
    /// JSON.
    case member([UInt8])
    case score(Double)
  }

  /// Returns the key and the content of a member, whose key is the identity, or of a score.
  func content(
    _ bytes: [UInt8], isSealed: Bool, _ row: String, _ sealing: StateSealing
  ) throws -> (key: StateName, content: Content) {
    let (text, location) = (try sealing.open(bytes, isSealed: isSealed, at: row), sealing.id.location)
    if sealing.id.kind == .scores {
      if isSealed {
        let found = try SealedScore.parse(text, at: location)
        return (found.key, .score(found.score))
      }
      guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else {
        throw SatchelError(.damaged, "\(location): the score of “\(row)” is not a number")
      }
      return (StateName(sound: row), .score(number))
    }
    guard isSealed else { return (StateName(sound: row), .member(text)) }
    let value = try StateStore.value(of: text, at: location)
    let identity = try naming(location) { try ValueIdentity(value) }
    return (StateName(sound: identity.hexadecimal), .member(text))
  }

  /// Returns the members of a set as JSON, by their identities.
  func members(_ name: StateName) throws -> [StateName: [UInt8]] {
    var members: [StateName: [UInt8]] = [:]
    try each(in: StateID(.set, name)) { key, content in
      if case .member(let value) = content { members[key] = value }
    }
    return members
  }

  /// Returns scores by their keys.
  func scores(_ name: StateName) throws -> [StateName: Double] {
    var scores: [StateName: Double] = [:]
    try each(in: StateID(.scores, name)) { key, content in
      if case .score(let score) = content { scores[key] = score }
    }
    return scores
  }

  private func each(in id: StateID, visit: (StateName, Content) throws -> Void) throws {
    let sealing = try sealing(of: id)
    try connection.each(
      "SELECT key, value, is_sealed FROM state_value WHERE space = ? ORDER BY key", .text(StateSpace.of(id))
    ) { row in
      let found = try content(Array(row.bytes(1)), isSealed: row.flag(2), row.text(0), sealing)
      try visit(found.key, found.content)
    }
  }

  /// Returns the keys of a space that begin with a prefix, in order.
  func keys(in space: String, prefix: String) throws -> [String] {
    // 0xFF is greater than any byte of UTF-8.
    let end = Array(prefix.utf8) + [0xFF]
    var keys: [String] = []
    try end.withUnsafeBytes { end in
      try connection.each(
        "SELECT key FROM state_value WHERE space = ? AND key >= ? AND key < ? ORDER BY key", .text(space),
        .text(prefix), .textBytes(end)
      ) { keys.append($0.text(0)) }
    }
    return keys
  }

  /// Returns the values whose keys begin with a prefix, without the sealed ones.
  func unsealedValues(prefix: String) throws -> [StateName: [UInt8]] {
    let end = Array(prefix.utf8) + [0xFF]
    var values: [StateName: [UInt8]] = [:]
    try end.withUnsafeBytes { end in
      try connection.each(
        "SELECT key, value FROM state_value WHERE space = ? AND key >= ? AND key < ? AND is_sealed = 0",
        .text(StateSpace.values), .text(prefix), .textBytes(end)
      ) { values[StateName(sound: $0.text(0))] = Array($0.bytes(1)) }
    }
    return values
  }

  /// Returns the items of a list, the newest first.
  ///
  /// - Parameter limit: the maximum number of items to read
  func items(_ list: StateName, limit: Int) throws -> [StateListContent.Item] {
    let sealing = try sealing(of: StateID(.list, list))
    var items: [StateListContent.Item] = []
    try connection.each(
      "SELECT value, identity, time, is_sealed FROM state_item WHERE list = ? ORDER BY number DESC LIMIT ?",
      .text(list.text), .integer(Int64(limit))
    ) { items.append(try item($0, sealing)) }
    return items
  }

  /// - Parameter row: its columns begin with value, identity, time, is_sealed
  func item(_ row: Statement, _ sealing: StateSealing) throws -> StateListContent.Item {
    let (stored, index, isSealed) = (Array(row.bytes(0)), Array(row.bytes(1)), row.flag(3))
    let value = try sealing.open(stored, isSealed: isSealed, at: index.hexadecimal)
    let location = sealing.id.location
    let identity =
      isSealed
      ? try naming(location) { try ValueIdentity(StateStore.value(of: value, at: location)) }
      : ValueIdentity(bytes: index)
    return StateListContent.Item(value: value, identity: identity, time: try row.integer(2))
  }

  // MARK: Saved sequence numbers

  func saved(_ writer: Int64) throws -> Int64 {
    try connection.number("SELECT through FROM state_saved WHERE writer = ?", .integer(writer))
  }

  func noteSaved(_ writer: Int64, through sequence: Int64, time: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO state_saved(writer, through, time) VALUES(?, ?, ?)", .integer(writer),
      .integer(sequence), .integer(time))
  }

  /// Deletes the rows of handles that have not saved since a time.
  func forgetSaved(before time: Int64) throws {
    try connection.run("DELETE FROM state_saved WHERE time < ?", .integer(time))
  }

  /// Returns the keys of values that are sealed with another encryption key.
  func sealed(notBy name: [UInt8]) throws -> [String] {
    var keys: [String] = []
    try name.withUnsafeBytes { name in
      try connection.each(
        "SELECT key FROM state_value WHERE space = 'value' AND is_sealed = 1 AND substr(value, 2, 8) <> ?",
        .blob(name)
      ) { keys.append($0.text(0)) }
    }
    return keys
  }

  /// Returns the keys of all sealed values.
  func sealedKeys() throws -> [String] {
    var keys: [String] = []
    try connection.each("SELECT key FROM state_value WHERE space = 'value' AND is_sealed = 1") {
      keys.append($0.text(0))
    }
    return keys
  }
}
