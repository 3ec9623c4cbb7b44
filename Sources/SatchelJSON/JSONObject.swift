/// The members of a JSON object, in the order they were added.
///
/// Small objects are searched, large ones keep an index, so that finding a key costs about the same in both.
public struct JSONObject: Sendable {
  /// From here on an index pays.
  private static let indexedCount = 17

  private(set) var members: [(key: String, value: JSONValue)] = []
  private var index: [JSONKey: Int]?

  /// An object without members.
  public init() {}

  /// Members in that order; of a key that is named twice the last value counts, at the first one's place.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (key, value) in members { self[key] = value }
  }

  /// Members whose keys are known to differ.
  init(distinct members: [(key: String, value: JSONValue)]) {
    self.members = members
    buildIndexIfLarge()
  }

  /// The keys in order.
  public var keys: [String] { members.map(\.key) }

  /// The value of a key. Setting a new key appends it; setting nil removes the member.
  public subscript(key: String) -> JSONValue? {
    get {
      guard let position = position(of: key) else { return nil }
      return members[position].value
    }
    set {
      switch (position(of: key), newValue) {
      case (let position?, let value?): members[position].value = value
      case (let position?, nil): removeMember(at: position)
      case (nil, let value?): append(key, value)
      case (nil, nil): break
      }
    }
  }

  /// Removes a member, and gives its value; nil when there is none.
  @discardableResult
  public mutating func removeValue(forKey key: String) -> JSONValue? {
    guard let position = position(of: key) else { return nil }
    let value = members[position].value
    removeMember(at: position)
    return value
  }

  /// Removes the members for which the condition holds, in one pass.
  public mutating func removeAll(where condition: (String, JSONValue) throws -> Bool) rethrows {
    let count = members.count
    try members.removeAll { try condition($0.key, $0.value) }
    if members.count != count { buildIndexIfLarge() }
  }

  /// Where a key stands; nil when there is none.
  func position(of key: String) -> Int? {
    if let index { return index[JSONKey(text: key)] }
    return members.firstIndex { $0.key.hasSameBytes(as: key) }
  }

  /// The value of a key that most likely stands at that position: equal objects mostly share their order.
  func value(of key: String, near position: Int) -> JSONValue? {
    guard position < members.count, members[position].key.hasSameBytes(as: key) else { return self[key] }
    return members[position].value
  }

  /// Takes a value out to be changed in place, without a copy; `put` gives it back.
  mutating func take(at position: Int) -> JSONValue {
    let value = members[position].value
    members[position].value = .null
    return value
  }

  /// Sets the value at a position.
  mutating func put(_ value: JSONValue, at position: Int) {
    members[position].value = value
  }

  /// Removes the member at a position.
  mutating func removeMember(at position: Int) {
    let member = members.remove(at: position)
    guard index != nil else { return }
    guard members.count >= JSONObject.indexedCount else {
      index = nil
      return
    }
    index?[JSONKey(text: member.key)] = nil
    guard position < members.count, var positions = index else { return }
    index = nil
    for slot in positions.values.indices where positions.values[slot] > position {
      positions.values[slot] -= 1
    }
    index = positions
  }

  private mutating func append(_ key: String, _ value: JSONValue) {
    members.append((key, value))
    if index != nil {
      index?[JSONKey(text: key)] = members.count - 1
    } else {
      buildIndexIfLarge()
    }
  }

  private mutating func buildIndexIfLarge() {
    guard members.count >= JSONObject.indexedCount else {
      index = nil
      return
    }
    var built: [JSONKey: Int] = [:]
    built.reserveCapacity(members.count)
    for (position, member) in members.enumerated() { built[JSONKey(text: member.key)] = position }
    index = built
  }
}

extension JSONObject: RandomAccessCollection {
  public var startIndex: Int { 0 }

  public var endIndex: Int { members.count }

  public subscript(position: Int) -> (key: String, value: JSONValue) { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Of a key that is named twice the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
