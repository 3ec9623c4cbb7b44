import SatchelStorage

/// What happens to a shard that was changed on both sides.
public enum SyncPolicy: String, Sendable, CaseIterable {
  /// The other side's rows count; every local change that differs from them goes to the conflict log.
  case remoteWins = "remote_wins"
  /// The other side's rows, and the local changes on top of them.
  case mergeRows = "merge_rows"

  /// - Throws: `SatchelError` (`invalid`) for a name that is neither "remote_wins" nor "merge_rows".
  public init(name: String) throws {
    guard let policy = SyncPolicy(rawValue: name) else {
      throw SatchelError(.invalid, "policy: \"\(name.prefix(64))\" is neither remote_wins nor merge_rows")
    }
    self = policy
  }
}
