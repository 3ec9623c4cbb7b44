extension JSONValue {
  /// Encodes a Swift value with its `Encodable` conformance.
  ///
  /// A nil property is omitted where the type uses `encodeIfPresent` (as synthesized conformances do), and
  /// null otherwise. A `Float` becomes the shortest decimal that reads back as the same `Float`, a `Set` a sorted
  /// array. Types that are registered with `JSONConversions` are encoded as these say; without that, Foundation's
  /// own conformances encode a `Date` as the seconds since 2001 and a `URL` as an object.
  ///
  /// - Throws: `EncodingError` with the coding path, and a message with the location as a JSON Pointer: for
  ///   NaN and infinity, keys with a NUL, more than 512 levels, and a value that
  ///   encodes nothing. `JSONError(_: EncodingError)` separates location and reason.
  public init(encoding value: some Encodable) throws {
    let context = JSONEncodingContext(path: [], calls: 0, run: JSONEncodingRun())
    guard let encoded = try context.encode(value) else {
      throw context.failure(value, "a value of type \(type(of: value)) encodes nothing")
    }
    self = encoded
  }
}

extension JSONError {
  /// Creates an error with the location and the reason of an encoding error.
  public init(_ error: EncodingError) {
    switch error {
    case .invalidValue(_, let context): self.init(context)
    @unknown default: self.init("the value cannot be encoded")
    }
  }

  private init(_ context: EncodingError.Context) {
    let pointer = JSONPath.pointer(context.codingPath)
    self.init(JSONError.reason(context.debugDescription, after: pointer), pointer: pointer)
  }

  /// Returns the message of a coding error: the location and the reason.
  static func description(_ reason: String, at path: [any CodingKey]) -> String {
    JSONError(reason, pointer: JSONPath.pointer(path)).description
  }

  /// Returns the reason without the location that `description` has added before it.
  static func reason(_ description: String, after pointer: String) -> String {
    let prefix = JSONError("", pointer: pointer).description
    return description.hasPrefix(prefix) ? String(description.dropFirst(prefix.count)) : description
  }
}

extension JSONPath {
  /// Returns the JSON Pointer of a coding path.
  static func pointer(_ path: [any CodingKey]) -> String { pointer(path.map(\.stringValue)) }
}
