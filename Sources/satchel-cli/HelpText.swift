import Satchel

/// Wraps the help to the terminal's width, except for examples: a command that is broken into lines cannot be
/// copied.
enum HelpText {
  /// A width at which the argument parser breaks no line.
  static let unlimited = 100_000
  /// The column at which the argument parser begins the descriptions of arguments and options.
  private static let descriptions = 26

  /// Wraps the help of a command; other output, such as completion scripts, are returned as they are.
  static func wrapped(_ text: String) -> String {
    guard text.hasPrefix("OVERVIEW: ") else { return text }
    let columns = max(columns, 2 * descriptions)
    var isOverview = true
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      if line.hasPrefix("USAGE:") { isOverview = false }
      let isIndented = line.hasPrefix("  ")
      // Indented lines of the overview are examples.
      if line.count <= columns || (isOverview && isIndented) { return String(line) }
      let isDescription = line.dropFirst(descriptions - 2).hasPrefix("  ")
      return wrapped(line, to: columns, indent: isOverview ? 0 : isDescription ? descriptions : 2)
    }.joined(separator: "\n")
  }

  /// Breaks a line between words; the lines after the first are indented.
  private static func wrapped(_ line: Substring, to columns: Int, indent: Int) -> String {
    var lines: [String] = []
    // The part before the description of an option stays in the first line.
    var current = String(line.prefix(indent))
    var isEmpty = true
    for word in line.dropFirst(indent).split(separator: " ") {
      if !isEmpty, current.count + 1 + word.count > columns {
        lines.append(current)
        (current, isEmpty) = (String(repeating: " ", count: indent), true)
      }
      current += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    return (lines + [current]).joined(separator: "\n")
  }

  /// The width of the terminal, or 80.
  private static var columns: Int {
    if let text = getenv("COLUMNS"), let columns = Int(String(cString: text)), columns > 0 { return columns }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
