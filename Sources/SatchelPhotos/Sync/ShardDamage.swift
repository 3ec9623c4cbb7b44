/// What is wrong with a shard's object in the remote.
public enum ShardDamage: String, Sendable, CaseIterable, CustomStringConvertible {
  case missing, empty, cut, corrupt, outdated

  /// The reason in words.
  public var description: String {
    switch self {
    case .missing: "there is no object, although the manifest names one"
    case .empty: "the object is empty, although the manifest names photos"
    case .cut: "the object is cut short"
    case .corrupt: "its bytes are not those that were written"
    case .outdated: "the object is an earlier version than the one last synced"
    }
  }
}
