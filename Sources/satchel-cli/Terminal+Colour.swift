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
        unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? "\u{FFFD}" : $0 }))
  }
}
