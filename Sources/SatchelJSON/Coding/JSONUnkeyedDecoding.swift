/// The elements of an array that is being decoded, one after the other.
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

  // Of these two Swift has implementations of its own, which only refuse.
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

  /// Goes on only behind what could be decoded, so that a caller may try another type.
  private mutating func next<Result>(
    _ type: Any.Type, _ body: (JSONValueDecoder) throws -> Result
  ) throws -> Result {
    let result = try body(decoder(type))
    currentIndex += 1
    return result
  }

  private func decoder(_ type: Any.Type) throws -> JSONValueDecoder {
    let path = codingPath + [JSONPlaceKey(index: currentIndex)]
    guard currentIndex < elements.count else {
      throw DecodingError.valueNotFound(
        type, .init("the array has only \(elements.count) elements", at: path))
    }
    return JSONValueDecoder(value: elements[currentIndex], codingPath: path)
  }
}
