import Satchel

/// One line of JSON, written file by file.
struct LintJSON: LintOutput {
  let output: Output
  /// Whether files without findings are listed too.
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
