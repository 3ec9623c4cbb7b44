import Satchel

/// What was found in all files together.
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

  /// "3 files checked: 1 error and 2 warnings in 1 file".
  var text: String {
    let checked = "\(Terminal.count(files, "file")) checked"
    guard filesWithFindings > 0 else { return "\(checked): nothing found" }
    let found = "\(Terminal.count(errors, "error")) and \(Terminal.count(warnings, "warning"))"
    return "\(checked): \(found) in \(Terminal.count(filesWithFindings, "file"))"
  }
}
