import Satchel

/// An output format of `satchel story lint`.
protocol LintOutput {
  mutating func add(_ linted: LintedFile) throws
  mutating func finish(_ totals: LintTotals) throws
}

/// A line for each finding, in the format that editors recognise.
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
    let position = "\(finding.path(in: file.name)):\(finding.position.line):\(finding.position.column): "
      .unicodeScalars.count
    let severity = finding.severity.rawValue
    let rest = line.unicodeScalars.dropFirst(position + severity.unicodeScalars.count)
    return Terminal.coloured(String(line.unicodeScalars.prefix(position)), .bold)
      + Terminal.coloured(severity, finding.severity == .error ? .red : .yellow) + String(rest)
  }
}

/// One line of JSON, written incrementally for each file.
struct LintJSON: LintOutput {
  let output: Output
  /// Whether to list files without findings, too.
  let listsAll: Bool
  let isStrict: Bool
  private var hasFiles = false

  init(output: Output, listsAll: Bool, isStrict: Bool) throws {
    (self.output, self.listsAll, self.isStrict) = (output, listsAll, isStrict)
    try output.put("{\"files\":[")
  }

  mutating func add(_ linted: LintedFile) throws {
    guard listsAll || !linted.findings.isEmpty else { return }
    let isSound = linted.errors == 0 && (!isStrict || linted.warnings == 0)
    let json: JSONValue = [
      "file": .string(linted.file.name), "ok": .bool(isSound),
      "findings": .array(linted.findings.map(\.json)),
      "errors": .int(Int64(linted.errors)), "warnings": .int(Int64(linted.warnings)),
    ]
    try output.put((hasFiles ? "," : "") + json.text)
    hasFiles = true
  }

  func finish(_ totals: LintTotals) throws {
    try output.put(
      """
      ],"errors":\(totals.errors),"warnings":\(totals.warnings),"files_checked":\(totals.files),\
      "files_with_findings":\(totals.filesWithFindings)}

      """)
    try output.finish()
  }
}

/// A SARIF log, written at the end.
struct LintSARIF: LintOutput {
  let output: Output
  private var files: [(name: String, findings: [StoryFinding])] = []

  init(output: Output) { self.output = output }

  mutating func add(_ linted: LintedFile) {
    guard !linted.findings.isEmpty else { return }
    let name = linted.file.isStandardInput ? linted.file.name : linted.file.path.tidy.text
    files.append((name, linted.findings))
  }

  func finish(_ totals: LintTotals) throws {
    try output.put(SARIF.log(files, version: Store.version).text + "\n")
    try output.finish()
  }
}

/// The totals of all files.
struct LintTotals {
  var files = 0
  var filesWithFindings = 0
  var errors = 0
  var warnings = 0

  mutating func add(_ linted: LintedFile) {
    files += 1
    filesWithFindings += linted.findings.isEmpty ? 0 : 1
    errors += linted.errors
    warnings += linted.warnings
  }

  /// The summary: "3 files checked: 1 error and 2 warnings in 1 file".
  var text: String {
    let checked = "\(Terminal.count(files, "file")) checked"
    guard filesWithFindings > 0 else { return "\(checked): no findings" }
    let found = "\(Terminal.count(errors, "error")) and \(Terminal.count(warnings, "warning"))"
    return "\(checked): \(found) in \(Terminal.count(filesWithFindings, "file"))"
  }
}
