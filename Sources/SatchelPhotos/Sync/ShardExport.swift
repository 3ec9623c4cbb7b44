/// A shard as it is to be written: base and changes together.
struct ShardExport: Sendable, Equatable {
  var bytes: [UInt8]
  /// SHA-256 of the bytes.
  var checksum: String
  /// The last change that they hold.
  var sequence: Int64
  var photos: Int64
}
