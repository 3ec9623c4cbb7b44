import Satchel

extension JSONValue {
  /// The value over several lines, for people: two spaces a level, and what is empty on one line.
  func pretty(indent: String = "") throws -> String {
    let inner = indent + "  "
    switch self {
    case .array(let elements) where !elements.isEmpty:
      let lines = try elements.map { inner + (try $0.pretty(indent: inner)) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
    case .object(let members) where !members.isEmpty:
      let lines = try members.map { key, value in
        "\(inner)\(try JSONValue.string(key).text): \(try value.pretty(indent: inner))"
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
    default: return try text
    }
  }
}

extension JSONValue {
  /// The value on one line, for a terminal.
  var plainText: String {
    get throws { try text.printableJSON }
  }
}
