import SatchelStorage

/// What happens to a record that was changed on both sides.
public enum RecordSyncStrategy: String, Sendable, CaseIterable {
  /// The version that was changed last counts. Whichever device comes first, the same one does.
  case newestWins = "newest_wins"
  /// The version in the object store counts.
  case remoteWins = "remote_wins"
  /// The version here counts.
  case localWins = "local_wins"
  /// Field by field against what was agreed last; where both changed a field, the version that was changed last
  /// counts. An edit outlives a deletion. Whichever device comes first, the outcome is the same.
  case merge
  /// Both are kept as a conflict until the host decides.
  case ask

  /// - Throws: `SatchelError` (`invalid`) for a name that is none
  public init(name: String) throws {
    guard let strategy = RecordSyncStrategy(rawValue: name) else {
      let names = RecordSyncStrategy.allCases.map(\.rawValue).joined(separator: ", ")
      throw SatchelError(.invalid, "strategy: \"\(name.prefix(64))\" is none of \(names)")
    }
    self = strategy
  }
}
