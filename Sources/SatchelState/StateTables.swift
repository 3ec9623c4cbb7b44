import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads and writes the rows of the state tables.
struct StateTables {
  let connection: Connection

  // MARK: Writing

  func apply(_ operation: StateOperation) throws {
    let target = operation.target
    switch operation.action {
    case .set(let value, let isSealed):
      try set(target, value, isSealed: isSealed, time: operation.time)
      if target.kind == .value { try setRemoval(of: target.name, at: nil) }
    case .remove where target.kind == .list:
      try connection.run("DELETE FROM state_item WHERE list = ?", .text(target.name.text))
    case .remove:
      try delete(target)
      if target.kind == .value { try setRemoval(of: target.name, at: operation.time) }
    case .push(let value, let identity, let bounds):
      try push(target.name.text, value, identity, bounds, time: operation.time)
    case .insert(let value, let identity, let bounds, let time):
      try insert(target.name.text, value, identity, bounds, time: time)
    case .drop(let identity): try drop(identity, from: target.name.text)
    case .add(let delta, let minimum, let maximum):
      let sum = ScoreRule.sum(try score(target), delta, minimum: minimum, maximum: maximum)
      try set(target, Array("\(sum)".utf8), isSealed: false, time: operation.time)
    case .mark(let mark): try set(mark, of: target.id)
    }
  }

  func set(_ target: StateTarget, _ value: [UInt8], isSealed: Bool, time: Int64) throws {
    try value.withUnsafeBytes { bytes in
      // A member that the set already has is not replaced.
      if target.kind == .member {
        try connection.run(
          "INSERT OR IGNORE INTO state_value(space, key, time, is_sealed, value) VALUES(?, ?, ?, ?, ?)",
          .text(target.space), .text(target.row), .integer(time), .integer(isSealed ? 1 : 0), .blob(bytes))
      } else {
        try connection.run(
          "INSERT OR REPLACE INTO state_value(space, key, time, is_sealed, value) VALUES(?, ?, ?, ?, ?)",
          .text(target.space), .text(target.row), .integer(time), .integer(isSealed ? 1 : 0), .blob(bytes))
      }
    }
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
    _ list: String, _ value: [UInt8], _ identity: ValueIdentity, _ bounds: StateListBounds, time: Int64
  ) throws {
    let newest = try newest(list)
    if bounds.isUnique { try drop(identity, from: list) }
    let place = Place(number: (newest?.number ?? 0) + 1, time: max(time, newest?.time ?? 0))
    try insert(list, value, identity, at: place)
    try trim(list, bounds, newest: place.time)
  }

  /// Inserts an item where its time belongs.
  private func insert(
    _ list: String, _ value: [UInt8], _ identity: ValueIdentity, _ bounds: StateListBounds, time: Int64
  ) throws {
    if bounds.isUnique {
      let isThere = try identity.bytes.withUnsafeBytes {
        try connection.number(
          "SELECT EXISTS(SELECT 1 FROM state_item WHERE list = ? AND identity = ? AND time >= ?)",
          .text(list),
          .blob($0), .integer(time))
      }
      if isThere == 1 { return }
    }
    guard let newest = try newest(list), newest.time > time else {
      return try push(list, value, identity, bounds, time: time)
    }
    if bounds.isUnique { try drop(identity, from: list) }
    let next = try connection.number(
      "SELECT min(number) FROM state_item WHERE list = ? AND time > ?", .text(list), .integer(time))
    // In two steps: no two items may have the same number in between.
    try connection.run(
      "UPDATE state_item SET number = -number WHERE list = ? AND number >= ?", .text(list), .integer(next))
    try connection.run(
      "UPDATE state_item SET number = 1 - number WHERE list = ? AND number < 0", .text(list))
    try insert(list, value, identity, at: Place(number: next, time: time))
    try trim(list, bounds, newest: newest.time)
  }

  private func insert(_ list: String, _ value: [UInt8], _ identity: ValueIdentity, at place: Place) throws {
    try value.withUnsafeBytes { value in
      try identity.bytes.withUnsafeBytes { identity in
        try connection.run(
          "INSERT INTO state_item(list, number, time, identity, value) VALUES(?, ?, ?, ?, ?)", .text(list),
          .integer(place.number), .integer(place.time), .blob(identity), .blob(value))
      }
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

  private func drop(_ identity: ValueIdentity, from list: String) throws {
    try identity.bytes.withUnsafeBytes {
      try connection.run("DELETE FROM state_item WHERE list = ? AND identity = ?", .text(list), .blob($0))
    }
  }

  // MARK: Reading

  /// Returns a value or a member as it is stored.
  func value(_ target: StateTarget) throws -> (bytes: [UInt8], isSealed: Bool)? {
    try connection.first(
      "SELECT value, is_sealed FROM state_value WHERE space = ? AND key = ?", .text(target.space),
      .text(target.row)
    ) { (Array($0.bytes(0)), $0.anyInteger(1) == 1) }
  }

  func score(_ target: StateTarget) throws -> Double {
    guard let bytes = try value(target)?.bytes else { return 0 }
    return try StateTables.number(bytes, target)
  }

  static func number(_ bytes: [UInt8], _ target: StateTarget) throws -> Double {
    guard let number = Double(String(decoding: bytes, as: UTF8.self)), number.isFinite else {
      throw SatchelError(.damaged, "\(target.location): the score of “\(target.row)” is not a number")
    }
    return number
  }

  /// Visits the rows of a space whose keys begin with a prefix, in order.
  func each(
    in space: String, prefix: String = "", visit: (_ key: String, _ row: Statement) throws -> Void
  ) throws {
    // 0xFF is greater than any byte of UTF-8.
    let end = Array(prefix.utf8) + [0xFF]
    try end.withUnsafeBytes { end in
      try connection.each(
        "SELECT key, value FROM state_value WHERE space = ? AND key >= ? AND key < ? ORDER BY key",
        .text(space), .text(prefix), .textBytes(end)
      ) { row in try visit(row.text(0), row) }
    }
  }

  /// Returns the keys of a space that begin with a prefix, in order.
  func keys(in space: String, prefix: String) throws -> [String] {
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

  /// Returns the items of a list, the newest first.
  ///
  /// - Parameter limit: the maximum number of items to read
  func items(_ list: StateName, limit: Int) throws -> [StateListContent.Item] {
    var items: [StateListContent.Item] = []
    try connection.each(
      "SELECT value, identity, time FROM state_item WHERE list = ? ORDER BY number DESC LIMIT ?",
      .text(list.text), .integer(Int64(limit))
    ) { row in
      items.append(
        StateListContent.Item(
          value: Array(row.bytes(0)), identity: ValueIdentity(bytes: Array(row.bytes(1))),
          time: try row.integer(2)))
    }
    return items
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
        "SELECT key FROM state_value WHERE is_sealed = 1 AND substr(value, 2, 8) <> ?", .blob(name)
      ) { keys.append($0.text(0)) }
    }
    return keys
  }

  /// Returns the keys of all sealed values.
  func sealedKeys() throws -> [String] {
    var keys: [String] = []
    try connection.each("SELECT key FROM state_value WHERE is_sealed = 1") { keys.append($0.text(0)) }
    return keys
  }
}
