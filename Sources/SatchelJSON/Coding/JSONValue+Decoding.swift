extension JSONValue {
  /// Decodes a Swift value with its `Decodable` conformance: the reverse of `init(encoding:)`.
  ///
  /// An integer may be written as 1.0, and a floating-point number as 1. Members that the type does not
  /// decode are ignored, and a missing key is nil where the type uses `decodeIfPresent`.
  ///
  /// - Throws: `DecodingError` with the coding path, and a message with the location as a JSON Pointer: for a
  ///   missing key, null or another kind of value than the type requires, and a number that the type cannot
  ///   represent. `JSONError(_: DecodingError)` separates location and reason.
  public func decode<Value: Decodable>(as type: Value.Type) throws -> Value {
    try JSONValueDecoder(value: self, codingPath: []).decode(type)
  }
}

extension JSONError {
  /// Creates an error with the location and the reason of a decoding error.
  public init(_ error: DecodingError) {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      self.init(context)
    case .keyNotFound(let key, let context):
      let pointer = JSONPath.pointer(context.codingPath)
      self.init("there is no \"\(key.stringValue)\"", pointer: pointer)
    @unknown default: self.init("the value cannot be decoded")
    }
  }

  private init(_ context: DecodingError.Context) {
    let pointer = JSONPath.pointer(context.codingPath)
    self.init(JSONError.reason(context.debugDescription, after: pointer), pointer: pointer)
  }
}

extension DecodingError.Context {
  init(_ reason: String, at path: [any CodingKey]) {
    self.init(codingPath: path, debugDescription: JSONError.description(reason, at: path))
  }
}
