/// The members of a JSON object, in insertion order.
///
/// Small objects are searched linearly; large ones have an index.
public struct JSONObject: Sendable {
  /// The number of members from which an index is faster than a linear search.
  private static let indexThreshold = 17

  private(set) var members: [(key: String, value: JSONValue)] = []
  private var index: [JSONKey: Int]?

  /// Creates an empty object.
  public init() {}

  /// Creates an object with the members in order. A repeated key has its last value, at its first position.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (key, value) in members { self[key] = value }
  }

  /// Creates an object from members whose keys are unique.
  init(distinct members: [(key: String, value: JSONValue)]) {
    self.members = members
    buildIndexIfLarge()
  }

  /// The keys, in insertion order.
  public var keys: [String] { members.map(\.key) }

  /// The value of a key; nil when it is absent. Setting a new key appends it; setting nil removes the member.
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

  /// Removes a member and returns its value; nil when it is absent.
  @discardableResult
  public mutating func removeValue(forKey key: String) -> JSONValue? {
    guard let position = position(of: key) else { return nil }
    let value = members[position].value
    removeMember(at: position)
    return value
  }

  /// Removes the members that satisfy the condition, in one pass.
  public mutating func removeAll(where condition: (String, JSONValue) throws -> Bool) rethrows {
    let count = members.count
    try members.removeAll { try condition($0.key, $0.value) }
    if members.count != count { buildIndexIfLarge() }
  }

  /// Returns the position of a key; nil when it is absent.
  func position(of key: String) -> Int? {
    if let index { return index[JSONKey(text: key)] }
    return members.firstIndex { $0.key.hasSameBytes(as: key) }
  }

  /// Returns the value of a key that is probably at the given position: equal objects usually have the same
  /// order.
  func value(of key: String, near position: Int) -> JSONValue? {
    guard position < members.count, members[position].key.hasSameBytes(as: key) else { return self[key] }
    return members[position].value
  }

  /// Moves a value out, so that it can be modified without a copy, and leaves null; `put` moves it back.
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
    guard members.count >= JSONObject.indexThreshold else {
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
    guard members.count >= JSONObject.indexThreshold else {
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
  /// Creates an object; a repeated key has its last value.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

/// A key that is compared by its bytes.
///
/// Swift's `String ==` treats "é" and "e\u{301}" as equal, so one of two such keys would be lost.
struct JSONKey: Hashable {
  let text: String

  static func == (left: JSONKey, right: JSONKey) -> Bool { left.text.hasSameBytes(as: right.text) }

  func hash(into hasher: inout Hasher) {
    let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if hashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}

extension String {
  /// Whether both are the same sequence of UTF-8 bytes.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let isSame = utf8.withContiguousStorageIfAvailable { one in
      other.utf8.withContiguousStorageIfAvailable { other in
        UnsafeRawBufferPointer(one).hasSameBytes(as: UnsafeRawBufferPointer(other))
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
