extension JSONValue {
  /// A Swift value from JSON, as its `Decodable` conformance describes it: the way back of `init(encoding:)`.
  ///
  /// An integer may be written as 1.0; a floating-point number as 1. A member that the type does not ask for is
  /// ignored, and a key that is missing counts as nil where Swift asks with `decodeIfPresent`.
  ///
  /// - Throws: `DecodingError` with the coding path, and a message that names the place as JSON Pointer: for a
  ///   missing key, null or another kind of value than the type wants, and a number that the type cannot hold.
  ///   `JSONError(_: DecodingError)` gives both apart.
  public func decode<Value: Decodable>(as type: Value.Type) throws -> Value {
    try JSONValueDecoder(value: self, codingPath: []).decode(type)
  }
}

extension JSONError {
  /// What a decoder refused, and where.
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
    self.init(JSONError.reason(context.debugDescription, behind: pointer), pointer: pointer)
  }
}

extension DecodingError.Context {
  init(_ reason: String, at path: [any CodingKey]) {
    self.init(codingPath: path, debugDescription: JSONError.description(reason, at: path))
  }
}
