import Satchel

/// A line a finding, in the form that editors jump to.
struct LintText: LintOutput {
  let output: Output
  let isColoured: Bool

  mutating func add(_ linted: LintedFile) throws {
    for finding in linted.findings { try output.put(line(finding, of: linted.file) + "\n") }
    try output.flush()
  }

  func finish(_ totals: LintTotals) throws { try output.finish() }

  private func line(_ finding: StoryFinding, of file: StoryFile) -> String {
    let line = finding.text(name: file.name)
    guard isColoured else { return line }
    let place = "\(file.name):\(finding.position.line):\(finding.position.column): ".unicodeScalars.count
    let severity = finding.severity.rawValue
    let rest = line.unicodeScalars.dropFirst(place + severity.unicodeScalars.count)
    return Terminal.coloured(String(line.unicodeScalars.prefix(place)), .bold)
      + Terminal.coloured(severity, finding.severity == .error ? .red : .yellow) + String(rest)
  }
}
