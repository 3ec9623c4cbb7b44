extension Unicode.Scalar {
  /// Whether a terminal interprets the character instead of displaying it: control characters, line
  /// separators, and bidirectional formatting characters, which can make one name look like another.
  package var isTerminalControl: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
