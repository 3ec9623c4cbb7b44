extension JSONValue: Codable {
  /// Decodes any value from any decoder.
  ///
  /// Decoders that do not distinguish 1 from 1.0 return an integer for both, and some do not preserve the
  /// order of keys; `init(parsing:)` preserves both.
  public init(from decoder: any Decoder) throws {
    guard decoder.codingPath.count <= JSONValue.maximumDepth else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: JSONError.tooDeep.reason))
    }
    if let container = try? decoder.container(keyedBy: JSONCodingKey.self) {
      var object = JSONObject()
      for key in container.allKeys {
        object[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
      }
      self = .object(object)
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      try self.init(scalar: decoder.singleValueContainer())
    }
  }

  private init(scalar container: any SingleValueDecodingContainer) throws {
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(UInt64.self) {
      // As a double the value would be rounded.
      self = JSONValue(integer: value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  /// Encodes the value with any encoder.
  public func encode(to encoder: any Encoder) throws {
    guard encoder.codingPath.count <= JSONValue.maximumDepth else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: JSONError.tooDeep.reason))
    }
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let value): try value.encode(to: encoder)
    case .int(let value): try value.encode(to: encoder)
    case .double(let value): try value.encode(to: encoder)
    case .bigNumber(let value): try value.encode(to: encoder, as: self)
    case .string(let value): try value.encode(to: encoder)
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let object):
      var container = encoder.container(keyedBy: JSONCodingKey.self)
      for (key, value) in object { try container.encode(value, forKey: JSONCodingKey(stringValue: key)) }
    }
  }
}

extension JSONBigNumber {
  /// Encodes an integer that fits into 128 bits; no other encoder than that of this library has big numbers.
  fileprivate func encode(to encoder: any Encoder, as value: JSONValue) throws {
    if let integer = UInt64(text) {
      try integer.encode(to: encoder)
    } else if let integer = Int128(text) {
      try integer.encode(to: encoder)
    } else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: encoder.codingPath, debugDescription: "the number is beyond 128 bits"))
    }
  }
}

/// Any key of an object.
private struct JSONCodingKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init(intValue: Int) { stringValue = String(intValue) }
}
