/// The decoder that is passed to `init(from:)`.
struct JSONValueDecoder: Decoder {
  let value: JSONValue
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = value else { throw mismatch([String: JSONValue].self, "an object") }
    try checkDepth()
    return KeyedDecodingContainer(JSONKeyedDecoding(members: members, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([JSONValue].self, "an array") }
    try checkDepth()
    return JSONUnkeyedDecoding(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// Checks the depth, because a value built by a program may be too deep for the thread's stack.
  private func checkDepth() throws {
    guard codingPath.count < JSONValue.maximumDepth else { throw corrupted(JSONError.tooDeep.reason) }
  }

  private func mismatch(_ type: Any.Type, _ wanted: String) -> DecodingError {
    let context = DecodingError.Context("\(value.kind), not \(wanted)", at: codingPath)
    return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  private func corrupted(_ reason: String) -> DecodingError { .dataCorrupted(.init(reason, at: codingPath)) }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { value.isNull }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard case .bool(let bool) = value else { throw mismatch(type, "a boolean") }
    return bool
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .string(let text) = value else { throw mismatch(type, "a string") }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double { try number(type) }

  private func number(_ type: Any.Type) throws -> Double {
    if case .bigNumber(let number) = value { throw unfitting(number, type) }
    guard let number = value.doubleValue else { throw mismatch(type, "a number") }
    return number
  }

  private func unfitting(_ number: JSONBigNumber, _ type: Any.Type) -> DecodingError {
    corrupted("the number \(number.shortened) does not fit into \(type)")
  }

  func decode(_ type: Float.Type) throws -> Float {
    let number = try number(type)
    let float = Float(number)
    guard float.isFinite else { throw corrupted("the number \(number) does not fit into \(type)") }
    return float
  }

  func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
    try integer(type)
  }

  private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    switch value {
    case .int(let integer):
      guard let fitting = Value(exactly: integer) else {
        throw corrupted("the integer \(integer) does not fit into \(type)")
      }
      return fitting
    case .double(let number):
      guard let fitting = Value(exactly: number) else {
        throw corrupted("the number \(number) is not an integer that fits into \(type)")
      }
      return fitting
    case .bigNumber(let number):
      guard let fitting = Value(number.text) else { throw unfitting(number, type) }
      return fitting
    default: throw mismatch(type, "a number")
    }
  }

  // Swift's default implementations for these two types only throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // A JSONValue is returned as it is; its `init(from:)` would have to try one kind after the other.
    if let same = value as? Value, type is JSONValue.Type { return same }
    guard let convert = JSONConversions.decoder(type) else { return try Value(from: self) }
    do {
      if let value = try convert(value) as? Value { return value }
    } catch let error where !(error is DecodingError) {
      throw corrupted("\(error)")
    }
    throw corrupted("not a \(type)")
  }
}

/// The decoding container of an object.
struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: JSONObject
  let codingPath: [any CodingKey]

  var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder(key).decode(type) }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder(key).decode(type) }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder(key).decode(type) }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder(key).decode(type) }

  func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(key).decode(type)
  }

  // Swift's default implementations for these two types only throw.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decoder(key).decode(type) }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decoder(key).decode(type) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { optionalDecoder(JSONSyntheticKey.superclass) }

  func superDecoder(forKey key: Key) throws -> any Decoder { optionalDecoder(key) }

  private func decoder(_ key: Key) throws -> JSONValueDecoder {
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init("there is no \"\(key.stringValue)\"", at: codingPath))
    }
    return JSONValueDecoder(value: value, codingPath: codingPath + [key])
  }

  /// Returns a decoder of the member, or of null when it is absent: as in Foundation, a superclass that
  /// encoded nothing decodes from null.
  private func optionalDecoder(_ key: any CodingKey) -> JSONValueDecoder {
    JSONValueDecoder(value: members[key.stringValue] ?? .null, codingPath: codingPath + [key])
  }
}

/// The decoding container of an array.
struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(elements: [JSONValue], codingPath: [any CodingKey]) {
    self.elements = elements
    self.codingPath = codingPath
  }

  var count: Int? { elements.count }

  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard try decoder(JSONValue.self).decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.decode(type) } }

  mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.decode(type) } }

  mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.decode(type) } }

  mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.decode(type) } }

  mutating func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
    try next(type) { try $0.decode(type) }
  }

  // Swift's default implementations for these two types only throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) { try $0.decode(type) } }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) { try $0.decode(type) } }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next(type) { try $0.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next(type) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next([JSONValue].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next(JSONValue.self) { $0 } }

  /// Decodes the next element. The index advances only on success, so that a caller may try another type.
  private mutating func next<Result>(
    _ type: Any.Type, _ body: (JSONValueDecoder) throws -> Result
  ) throws -> Result {
    let result = try body(decoder(type))
    currentIndex += 1
    return result
  }

  private func decoder(_ type: Any.Type) throws -> JSONValueDecoder {
    let path = codingPath + [JSONSyntheticKey(index: currentIndex)]
    guard currentIndex < elements.count else {
      throw DecodingError.valueNotFound(
        type, .init("the array has only \(elements.count) elements", at: path))
    }
    return JSONValueDecoder(value: elements[currentIndex], codingPath: path)
  }
}
