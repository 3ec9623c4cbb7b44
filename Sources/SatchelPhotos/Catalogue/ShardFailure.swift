import SatchelJSON
import SatchelStorage

/// A shard that could not be taken while the others went on, and why.
public struct ShardFailure: Sendable {
  public var shard: Shard.Index
  public var error: SatchelError

  /// As it crosses the C boundary: `code` is the number of a `satchel_status`.
  public var json: JSONValue {
    [
      "shard": .int(Int64(shard.number)), "code": .int(Int64(error.code.rawValue)),
      "message": .string(error.message),
    ]
  }
}
