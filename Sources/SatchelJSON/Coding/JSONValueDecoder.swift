/// What a value's `init(from:)` is given.
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

  /// A value that a program built may be deeper than the thread's stack allows.
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
    guard case .bool(let truth) = value else { throw mismatch(type, "a boolean") }
    return truth
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .string(let text) = value else { throw mismatch(type, "a string") }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double {
    guard let number = value.doubleValue else { throw mismatch(type, "a number") }
    return number
  }

  func decode(_ type: Float.Type) throws -> Float {
    guard let number = value.doubleValue else { throw mismatch(type, "a number") }
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
        throw corrupted("the number \(number) is no integer that fits into \(type)")
      }
      return fitting
    default: throw mismatch(type, "a number")
    }
  }

  // Of these two Swift has implementations of its own, which only refuse.
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // As it is: it would else have to be guessed kind by kind.
    if let same = value as? Value, type is JSONValue.Type { return same }
    return try Value(from: self)
  }
}
