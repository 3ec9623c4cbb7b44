/// The elements of an array in the making.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
  let slot: JSONEncodingSlot
  let place: JSONEncodingPlace

  var codingPath: [any CodingKey] { place.path }

  var count: Int { slot.count }

  func encodeNil() throws { slot.append(.null) }

  func encode(_ value: Bool) throws { slot.append(.bool(value)) }

  func encode(_ value: String) throws { slot.append(.string(value)) }

  func encode(_ value: Double) throws { slot.append(try place.json(value, key: key)) }

  func encode(_ value: Float) throws { slot.append(try place.json(value, key: key)) }

  func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws {
    slot.append(try place.json(value, key: key))
  }

  // Of these two Swift has implementations of its own, which only refuse.
  func encode(_ value: Int128) throws { slot.append(try place.json(value, key: key)) }

  func encode(_ value: UInt128) throws { slot.append(try place.json(value, key: key)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    slot.append(try place.child(key).encode(value) ?? .object(JSONObject()))
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder() }

  /// The key of the element that comes next.
  private var key: JSONPlaceKey { JSONPlaceKey(index: slot.count) }

  private func encoder() -> JSONValueEncoder {
    let inside = place.child(key)
    // Too deep to be looked at again: what is written there goes nowhere, and the error is kept.
    let isTooDeep = place.path.count >= JSONValue.maximumDepth
    return JSONValueEncoder(slot: isTooDeep ? JSONEncodingSlot() : slot.appendSlot(), place: inside)
  }
}
