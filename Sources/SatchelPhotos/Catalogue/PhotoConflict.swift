import SatchelJSON

/// A local change that lost.
public struct PhotoConflict: Sendable, Equatable, Identifiable {
  /// What it lost against.
  public enum Cause: String, Sendable {
    /// The master.
    case sync
    /// A file that was imported.
    case `import`
  }

  /// What was changed.
  public enum Kind: String, Sendable {
    case upsert, delete
  }

  public var id: Int64
  public var md5: MD5
  /// When it lost: Unix milliseconds.
  public var time: Int64
  public var cause: Cause
  /// The row that lost; nil for a deletion.
  public var local: Photo?
  /// The row that won; nil when the other side has none.
  public var remote: Photo?
  /// The row that both came from; nil when there was none.
  public var base: Photo?

  public var kind: Kind { local == nil ? .delete : .upsert }
  public var shard: Shard.Index { md5.shard }

  /// As it crosses the C boundary: id, md5, shard, time, cause, kind, local, remote, base.
  public var json: JSONValue {
    [
      "id": .int(id), "md5": .string(md5.description), "shard": .int(Int64(shard.number)), "time": .int(time),
      "cause": .string(cause.rawValue), "kind": .string(kind.rawValue), "local": local?.json ?? .null,
      "remote": remote?.json ?? .null, "base": base?.json ?? .null,
    ]
  }
}
