/// What a value's `encode(to:)` is given.
struct JSONValueEncoder: Encoder {
  let slot: JSONEncodingSlot
  let place: JSONEncodingPlace

  var codingPath: [any CodingKey] { place.path }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    place.open(slot, as: .object)
    return KeyedEncodingContainer(JSONKeyedEncoding(slot: slot, place: place))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    place.open(slot, as: .array)
    return JSONUnkeyedEncoding(slot: slot, place: place)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try set(.null) }

  func encode(_ value: Bool) throws { try set(.bool(value)) }

  func encode(_ value: String) throws { try set(.string(value)) }

  func encode(_ value: Double) throws { try set(place.json(value)) }

  func encode(_ value: Float) throws { try set(place.json(value)) }

  func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws { try set(place.json(value)) }

  // Of these two Swift has implementations of its own, which only refuse.
  func encode(_ value: Int128) throws { try set(place.json(value)) }

  func encode(_ value: UInt128) throws { try set(place.json(value)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    try set(place.encode(value) ?? .object(JSONObject()))
  }

  private func set(_ value: JSONValue) throws {
    guard slot.set(value) else { throw place.failure(value, "there is already a value") }
  }
}
