extension StoryReport {
  /// A line a finding, in the form that editors and CI jump to: "name:line:column: severity: message [code]".
  public func text(name: String) -> String {
    findings.reduce(into: "") { $0 += $1.text(name: name) + "\n" }
  }
}

extension StoryFinding {
  /// The finding as one line for people.
  public func text(name: String) -> String {
    let hint = suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
    let line =
      "\(name):\(position.line):\(position.column): \(severity.rawValue): \(message)\(hint) [\(code.rawValue)]"
    // Ids are the author's: a line break or an escape of a terminal in one must not become one here.
    return String(
      String.UnicodeScalarView(
        line.unicodeScalars.map { $0.isTerminalControl ? "\u{FFFD}" : $0 }))
  }
}
