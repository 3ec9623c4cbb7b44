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
  /// The value on one line, with nothing in it that a terminal would take for a command: JSON itself escapes no more
  /// than the characters below U+0020.
  var plainText: String {
    get throws {
      let text = try text
      guard text.unicodeScalars.contains(where: { (0x7F...0x9F).contains($0.value) }) else { return text }
      var plain = ""
      for scalar in text.unicodeScalars {
        guard (0x7F...0x9F).contains(scalar.value) else {
          plain.unicodeScalars.append(scalar)
          continue
        }
        plain += "\\u00" + String(scalar.value, radix: 16)
      }
      return plain
    }
  }
}
