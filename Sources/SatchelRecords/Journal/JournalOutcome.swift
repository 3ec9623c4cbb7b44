/// How a write went.
package struct JournalOutcome<Result> {
  /// What the body gave; nil when it could not be run, or not to its end.
  package let result: Result?
  /// Whether the entry is in the spill file, and not in the store yet.
  package let isSpilled: Bool
}

extension JournalOutcome: Sendable where Result: Sendable {}
