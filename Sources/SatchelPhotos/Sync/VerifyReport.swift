import SatchelJSON
import SatchelStorage

/// What the remote holds, shard by shard, compared with its manifest.
public struct VerifyReport: Sendable {
  /// What a shard's object is.
  public enum State: String, Sendable, CaseIterable {
    /// As the manifest says; an empty shard may have no object.
    case ok
    case missing, empty, cut, corrupt, outdated
    /// Whole, and newer than the manifest: its writer died before it wrote that.
    case newer
    /// Not what the manifest says, and nothing that this device has shows whether it is whole.
    case unproven
    /// It could not be read: see `error`.
    case unreadable

    init(_ damage: ShardDamage) {
      self =
        switch damage {
        case .missing: .missing
        case .empty: .empty
        case .cut: .cut
        case .corrupt: .corrupt
        case .outdated: .outdated
        }
    }
  }

  /// What the manifest is.
  public enum ManifestState: String, Sendable { case ok, missing, unreadable }

  public struct ShardFinding: Sendable {
    public var shard: Shard.Index
    /// As it was found.
    public var state: State
    /// Whether it is ok by now.
    public var isRepaired = false
    /// Why it could not be read, or not be repaired.
    public var error: SatchelError?
  }

  /// As it was found.
  public var manifest = ManifestState.ok
  public var isManifestRepaired = false
  /// All sixteen, in order.
  public var shards: [ShardFinding] = []
  /// Photos that the repair removed here, because the master's sound shards do not have them.
  public var removed: Int64 = 0
  /// Requests to the object store, repeated ones included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0

  /// Whether the remote is sound, by now.
  public var isSound: Bool {
    (manifest == .ok || isManifestRepaired) && shards.allSatisfy { $0.state == .ok || $0.isRepaired }
  }

  /// As it crosses the C boundary.
  public var json: JSONValue {
    [
      "ok": .bool(isSound), "manifest": .string(manifest.rawValue),
      "manifest_repaired": .bool(isManifestRepaired), "shards": .array(shards.map(\.json)),
      "removed": .int(removed), "requests": .int(requests), "bytes_up": .int(bytesUp),
      "bytes_down": .int(bytesDown),
    ]
  }
}

extension VerifyReport.ShardFinding {
  var json: JSONValue {
    [
      "shard": .int(Int64(shard.number)), "state": .string(state.rawValue), "repaired": .bool(isRepaired),
      "message": error.map { .string($0.message) } ?? .null,
    ]
  }
}
