import Satchel

/// A SARIF log, which is made of all findings at the end.
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
    try output.put(SARIF.log(files, version: Satchel.version).text + "\n")
    try output.finish()
  }
}
