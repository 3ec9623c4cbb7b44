/// The encoder that is passed to `encode(to:)`.
struct JSONValueEncoder: Encoder {
  let slot: JSONEncodingSlot
  let context: JSONEncodingContext

  var codingPath: [any CodingKey] { context.path }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    context.open(slot, as: .object)
    return KeyedEncodingContainer(JSONKeyedEncoding(slot: slot, context: context))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    context.open(slot, as: .array)
    return JSONUnkeyedEncoding(slot: slot, context: context)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try set(.null) }

  func encode(_ value: Bool) throws { try set(.bool(value)) }

  func encode(_ value: String) throws { try set(.string(value)) }

  func encode(_ value: Double) throws { try set(context.json(value)) }

  func encode(_ value: Float) throws { try set(context.json(value)) }

  func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws {
    try set(JSONValue(integer: value))
  }

  // Swift's default implementations for these two types only throw.
  func encode(_ value: Int128) throws { try set(JSONValue(integer: value)) }

  func encode(_ value: UInt128) throws { try set(JSONValue(integer: value)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    try set(context.encode(value) ?? .object(JSONObject()))
  }

  private func set(_ value: JSONValue) throws {
    guard slot.set(value) else { throw context.failure(value, "a value is already encoded") }
  }
}

/// The encoding container of an object.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: JSONEncodingSlot
  let context: JSONEncodingContext

  var codingPath: [any CodingKey] { context.path }

  func encodeNil(forKey key: Key) throws { try set(.null, key) }

  func encode(_ value: Bool, forKey key: Key) throws { try set(.bool(value), key) }

  func encode(_ value: String, forKey key: Key) throws { try set(.string(value), key) }

  func encode(_ value: Double, forKey key: Key) throws { try set(context.json(value, key: key), key) }

  func encode(_ value: Float, forKey key: Key) throws { try set(context.json(value, key: key), key) }

  func encode<Value: FixedWidthInteger & Encodable>(_ value: Value, forKey key: Key) throws {
    try set(JSONValue(integer: value), key)
  }

  // Swift's default implementations for these two types only throw.
  func encode(_ value: Int128, forKey key: Key) throws { try set(JSONValue(integer: value), key) }

  func encode(_ value: UInt128, forKey key: Key) throws { try set(JSONValue(integer: value), key) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try set(context.child(key).encode(value) ?? .object(JSONObject()), key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(JSONSyntheticKey.superclass) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  private func set(_ value: JSONValue, _ key: Key) throws { slot.set(value, key: try context.name(key)) }

  private func encoder(_ key: any CodingKey) -> JSONValueEncoder {
    if key.stringValue.utf8.contains(0) { context.deferError("the key contains a NUL") }
    // Beyond the maximum depth: what is written there is discarded, and the error is deferred.
    let isTooDeep = context.path.count >= JSONValue.maximumDepth
    return JSONValueEncoder(
      slot: isTooDeep ? JSONEncodingSlot() : slot.slot(key: key.stringValue), context: context.child(key))
  }
}

/// The encoding container of an array.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
  let slot: JSONEncodingSlot
  let context: JSONEncodingContext

  var codingPath: [any CodingKey] { context.path }

  var count: Int { slot.count }

  func encodeNil() throws { slot.append(.null) }

  func encode(_ value: Bool) throws { slot.append(.bool(value)) }

  func encode(_ value: String) throws { slot.append(.string(value)) }

  func encode(_ value: Double) throws { slot.append(try context.json(value, key: key)) }

  func encode(_ value: Float) throws { slot.append(try context.json(value, key: key)) }

  func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws {
    slot.append(JSONValue(integer: value))
  }

  // Swift's default implementations for these two types only throw.
  func encode(_ value: Int128) throws { slot.append(JSONValue(integer: value)) }

  func encode(_ value: UInt128) throws { slot.append(JSONValue(integer: value)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    slot.append(try context.child(key).encode(value) ?? .object(JSONObject()))
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder() }

  /// The key of the next element.
  private var key: JSONSyntheticKey { JSONSyntheticKey(index: slot.count) }

  private func encoder() -> JSONValueEncoder {
    let inside = context.child(key)
    // Beyond the maximum depth: what is written there is discarded, and the error is deferred.
    let isTooDeep = context.path.count >= JSONValue.maximumDepth
    return JSONValueEncoder(slot: isTooDeep ? JSONEncodingSlot() : slot.appendSlot(), context: inside)
  }
}

/// A coding key that no type declares: of an array element, or of a superclass.
struct JSONSyntheticKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  /// The key of the superclass's values, by Swift's convention.
  static let superclass = JSONSyntheticKey(stringValue: "super")

  init(index: Int) {
    stringValue = String(index)
    intValue = index
  }

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) { self.init(index: intValue) }
}
