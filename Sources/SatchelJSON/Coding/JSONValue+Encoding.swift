extension JSONValue {
  /// The JSON of any Swift value, as its `Encodable` conformance describes it.
  ///
  /// A nil property is left out where Swift leaves it out (`encodeIfPresent`, which synthesized conformances use)
  /// and is null elsewhere. A `Float` becomes the shortest decimal that reads back as the same `Float`. Types of
  /// Foundation take the form of their own conformance: a `Date` the seconds since 2001, a `URL` an object.
  ///
  /// - Throws: `EncodingError` with the coding path, and a message that names the place as JSON Pointer: for NaN and
  ///   infinity, integers beyond Int64, keys with a NUL, more than 512 levels, and a value that encodes nothing.
  ///   `JSONError(_: EncodingError)` gives both apart.
  public init(encoding value: some Encodable) throws {
    let place = JSONEncodingPlace(path: [], calls: 0, run: JSONEncodingRun())
    guard let encoded = try place.encode(value) else {
      throw place.failure(value, "a value of type \(type(of: value)) encodes nothing")
    }
    self = encoded
  }
}

extension JSONError {
  /// What an encoder refused, and where.
  public init(_ error: EncodingError) {
    switch error {
    case .invalidValue(_, let context): self.init(context)
    @unknown default: self.init("the value cannot be encoded")
    }
  }

  private init(_ context: EncodingError.Context) {
    let pointer = JSONPath.pointer(context.codingPath)
    self.init(JSONError.reason(context.debugDescription, behind: pointer), pointer: pointer)
  }

  /// What an error of a coder says: the place for a person, and the reason.
  static func description(_ reason: String, at path: [any CodingKey]) -> String {
    JSONError(reason, pointer: JSONPath.pointer(path)).description
  }

  /// The reason without the place that `description` put before it.
  static func reason(_ description: String, behind pointer: String) -> String {
    let place = JSONError("", pointer: pointer).description
    return description.hasPrefix(place) ? String(description.dropFirst(place.count)) : description
  }
}

extension JSONPath {
  /// The JSON Pointer of a coding path.
  static func pointer(_ path: [any CodingKey]) -> String { pointer(path.map(\.stringValue)) }
}
