/// The members of an object in the making.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: JSONEncodingSlot
  let place: JSONEncodingPlace

  var codingPath: [any CodingKey] { place.path }

  func encodeNil(forKey key: Key) throws { try set(.null, key) }

  func encode(_ value: Bool, forKey key: Key) throws { try set(.bool(value), key) }

  func encode(_ value: String, forKey key: Key) throws { try set(.string(value), key) }

  func encode(_ value: Double, forKey key: Key) throws { try set(place.json(value, key: key), key) }

  func encode(_ value: Float, forKey key: Key) throws { try set(place.json(value, key: key), key) }

  func encode<Value: FixedWidthInteger & Encodable>(_ value: Value, forKey key: Key) throws {
    try set(place.json(value, key: key), key)
  }

  // Of these two Swift has implementations of its own, which only refuse.
  func encode(_ value: Int128, forKey key: Key) throws { try set(place.json(value, key: key), key) }

  func encode(_ value: UInt128, forKey key: Key) throws { try set(place.json(value, key: key), key) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try set(place.child(key).encode(value) ?? .object(JSONObject()), key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(JSONPlaceKey.superclass) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  private func set(_ value: JSONValue, _ key: Key) throws { slot.set(value, key: try place.name(key)) }

  private func encoder(_ key: any CodingKey) -> JSONValueEncoder {
    if key.stringValue.utf8.contains(0) { place.keep("a key with a NUL in it") }
    // Too deep to be looked at again: what is written there goes nowhere, and the error is kept.
    let isTooDeep = place.path.count >= JSONValue.maximumDepth
    return JSONValueEncoder(
      slot: isTooDeep ? JSONEncodingSlot() : slot.slot(key: key.stringValue), place: place.child(key))
  }
}
