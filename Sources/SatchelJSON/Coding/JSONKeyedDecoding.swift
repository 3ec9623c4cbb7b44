/// The members of an object that is being decoded.
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

  // Of these two Swift has implementations of its own, which only refuse.
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

  func superDecoder() throws -> any Decoder { optionalDecoder(JSONPlaceKey.superclass) }

  func superDecoder(forKey key: Key) throws -> any Decoder { optionalDecoder(key) }

  private func decoder(_ key: Key) throws -> JSONValueDecoder {
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init("there is no \"\(key.stringValue)\"", at: codingPath))
    }
    return JSONValueDecoder(value: value, codingPath: codingPath + [key])
  }

  /// As Foundation has it: a superclass that encoded nothing decodes from null.
  private func optionalDecoder(_ key: any CodingKey) -> JSONValueDecoder {
    JSONValueDecoder(value: members[key.stringValue] ?? .null, codingPath: codingPath + [key])
  }
}
