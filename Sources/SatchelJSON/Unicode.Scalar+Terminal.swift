extension Unicode.Scalar {
  /// Whether a terminal would act on it instead of showing it: control characters, separators of lines, and the marks
  /// that change the direction of text, with which a name can look like another one.
  package var isTerminalControl: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
