import SatchelCore

/// The resolution of a conflict: a record or photo row that was changed both locally and remotely.
public enum ConflictPolicy: String, Sendable, CaseIterable {
  /// The remote version is kept.
  case remoteWins = "remote_wins"
  /// The local version is kept.
  case localWins = "local_wins"
  /// The version that was modified last is kept. All devices converge, in whatever order they synchronize.
  case newestWins = "newest_wins"
  /// Records: a three-way merge of fields against the last synced version; for a field that both sides
  /// changed, the version that was modified last is kept. An edit wins over a deletion. Photos: the remote
  /// rows with the local changes applied to them.
  case merge
  /// Both versions are kept as a conflict until the host resolves it.
  case ask

  /// Parses the name of a policy.
  ///
  /// - Throws: `SatchelError` (`invalid`) for an unknown name
  package init(name: String) throws {
    guard let policy = ConflictPolicy(rawValue: name) else {
      let names = ConflictPolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw SatchelError(.invalid, "on_conflict: \"\(name.prefix(64))\" is not one of \(names)")
    }
    self = policy
  }
}
