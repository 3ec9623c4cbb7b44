import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// The state of the remote, shard by shard, compared with its manifest.
public struct VerifyReport: Sendable, TrafficReport, JSONConvertible {
  /// The state of a shard's object.
  public enum State: String, Sendable, CaseIterable {
    /// The object matches the manifest; an empty shard may have no object.
    case ok
    case missing, empty, cut, corrupt, outdated
    /// Complete, and newer than the manifest: its writer died before it wrote that.
    case newer
    /// Differs from the manifest, and this device cannot determine whether it is complete.
    case unproven
    /// Could not be read: see `error`.
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

  /// The state of the manifest.
  public enum ManifestState: String, Sendable { case ok, missing, unreadable }

  public struct ShardFinding: Sendable {
    public var shard: Shard.Index
    /// The state before any repair.
    public var state: State
    /// Whether it was repaired.
    public var isRepaired = false
    /// The reason why it could not be read or repaired.
    public var error: SatchelError?
  }

  /// The state before any repair.
  public var manifest = ManifestState.ok
  public var isManifestRepaired = false
  /// All sixteen, in order.
  public var shards: [ShardFinding] = []
  /// Keys of objects beside the manifest and the shards that are neither, such as the conflict copies of a program that
  /// synchronizes a folder: their rows may be nowhere else.
  public var foreign: [String] = []
  /// Local photos that the repair deleted because the remote's sound shards do not have them.
  public var removed: Int64 = 0
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0

  /// Whether the remote is sound, after a repair if there was one.
  public var isSound: Bool {
    (manifest == .ok || isManifestRepaired) && shards.allSatisfy { $0.state == .ok || $0.isRepaired }
  }

  /// The report as a JSON object.
  public var json: JSONValue {
    [
      "ok": .bool(isSound), "manifest": .string(manifest.rawValue),
      "manifest_repaired": .bool(isManifestRepaired), "shards": .array(shards.map(\.json)),
      "foreign": .array(foreign.map { .string($0) }), "removed": .int(removed), "requests": .int(requests),
      "bytes_up": .int(bytesUp),
      "bytes_down": .int(bytesDown),
    ]
  }
}

extension VerifyReport.ShardFinding: JSONConvertible {
  public var json: JSONValue {
    [
      "shard": .int(Int64(shard.number)), "state": .string(state.rawValue), "repaired": .bool(isRepaired),
      "message": error.map { .string($0.message) } ?? .null,
    ]
  }
}
