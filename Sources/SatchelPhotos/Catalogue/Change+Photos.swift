import SatchelStorage

extension Change {
  /// The directory of the changed catalogue of photos; nil for changes of other subjects.
  public var directory: String? { subject == .photos ? place : nil }

  /// The changed photos; empty for changes of other subjects, and when `shards` lists the changes.
  public var photos: [MD5] { keys(of: .photos).compactMap { MD5($0) } }

  /// The shards with changed photos, when very many photos changed; empty for other changes.
  public var shards: [Shard.Index] {
    keys(of: .photos).filter { $0.hasPrefix(Self.shardPrefix) }
      .compactMap { Shard.Index(digit: String($0.dropFirst(Self.shardPrefix.count))) }
  }

  /// Precedes the digit of a shard in the keys of a change.
  static let shardPrefix = "shard:"
}
