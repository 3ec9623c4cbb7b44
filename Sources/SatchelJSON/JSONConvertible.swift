/// A value that has a JSON form. Its description is that form as compact text.
public protocol JSONConvertible: CustomStringConvertible {
  /// The JSON form, as the C interface returns it.
  var json: JSONValue { get throws }
}

extension JSONConvertible {
  /// The JSON form as compact text; the type and the error for a value that has none, such as one with NaN.
  public var description: String {
    do {
      return try json.text
    } catch {
      return "\(Self.self): \(error)"
    }
  }
}

extension JSONValue: JSONConvertible {
  /// The value itself.
  public var json: JSONValue { self }
}

/// A value that is encoded and decoded as its JSON form.
public protocol JSONCodable: JSONConvertible, Codable {
  /// Creates a value from its JSON form.
  ///
  /// - Throws: `JSONError` with a pointer, or another error that describes the reason
  init(json: JSONValue) throws
}

extension JSONCodable {
  public init(from decoder: any Decoder) throws { self = try Self.decode(from: decoder) }

  public func encode(to encoder: any Encoder) throws { try encodeJSON(to: encoder) }

  /// Decodes the JSON form: for the `init(from:)` of enums, for which Swift has another default.
  package static func decode(from decoder: any Decoder) throws -> Self {
    // By a container, because `JSONValue(from:)` would turn 1.0 into 1.
    let json = try decoder.singleValueContainer().decode(JSONValue.self)
    do {
      return try Self(json: json)
    } catch let error as JSONError {
      let path = error.pointer.flatMap { try? JSONPath(pointer: $0) }?.components ?? []
      throw DecodingError.dataCorrupted(
        .init(error.reason, at: decoder.codingPath + path.map(JSONSyntheticKey.init(stringValue:))))
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
  }

  /// Encodes the JSON form: for the `encode(to:)` of enums, for which Swift has another default.
  package func encodeJSON(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(json)
  }
}
