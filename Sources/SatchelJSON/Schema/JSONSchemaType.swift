/// The types that "type" names.
enum JSONSchemaType: String, Sendable, CaseIterable {
  case null, boolean, object, array, number, string, integer

  /// Whether a value is of the type; 1.0 is an integer too.
  func holds(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.null, .null), (.boolean, .bool), (.object, .object), (.array, .array), (.string, .string),
      (.number, .int), (.number, .double), (.integer, .int):
      true
    case (.integer, .double(let number)): number.isFinite && number.rounded(.towardZero) == number
    default: false
    }
  }

  /// With its article, for messages.
  var name: String {
    switch self {
    case .null: rawValue
    case .object, .array, .integer: "an \(rawValue)"
    default: "a \(rawValue)"
    }
  }
}
