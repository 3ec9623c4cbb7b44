import Satchel

/// How `satchel story lint` says what it found.
protocol LintOutput {
  mutating func add(_ linted: LintedFile) throws
  mutating func finish(_ totals: LintTotals) throws
}
