import Satchel

extension String {
  /// The string on one line; characters that control a terminal are replaced by U+FFFD.
  var printable: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.isTerminalControl ? "\u{FFFD}" : $0 }))
  }

  /// The JSON text with `\u` escapes for all characters that control a terminal. JSON itself requires escapes
  /// only below U+0020.
  var printableJSON: String {
    guard unicodeScalars.contains(where: { $0.isTerminalControl && $0 != "\n" }) else { return self }
    var plain = ""
    for scalar in unicodeScalars {
      guard scalar.isTerminalControl && scalar != "\n" else {
        plain.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      plain += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return plain
  }
}

extension JSONValue {
  /// Returns the value as indented JSON: two spaces a level; empty arrays and objects on one line.
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

  /// The value as JSON on one line, safe to print to a terminal.
  var plainText: String {
    get throws { try text.printableJSON }
  }
}
