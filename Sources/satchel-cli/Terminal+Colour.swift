import Satchel

extension Terminal {
  /// Colours of severities, and the weight of what matters.
  enum Colour: String {
    case red = "31"
    case yellow = "33"
    case bold = "1"
  }

  static func isTerminal(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

  /// Whether colours are welcome there: on a terminal that knows them, unless NO_COLOR is set (no-color.org).
  static func wantsColour(_ descriptor: CInt) -> Bool {
    guard isTerminal(descriptor) else { return false }
    let refusal = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    return !refusal && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
  }

  static func coloured(_ text: String, _ colour: Colour) -> String {
    "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
  }

  /// Writes what a person may miss: nothing is to be done when it cannot be written.
  static func say(_ text: String, to descriptor: CInt) {
    var text = text
    text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
  }
}

extension String {
  /// The text on one line, without what a terminal would take for a command.
  var printable: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.isTerminalControl ? "\u{FFFD}" : $0 }))
  }

  /// The same JSON text, with `\u` escapes for what a terminal would take for a command. JSON itself escapes no more
  /// than the characters below U+0020.
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
