import SatchelJSON
import SatchelStorage

/// `manifest.json`: which shards a catalogue has, and what their bytes are.
struct Manifest: Sendable, Equatable {
  /// The version that is written.
  static let currentVersion = "6.0"
  /// Bytes; a manifest has about 1,500.
  static let maximumSize = 1 << 20

  /// "6.0".
  var version = Manifest.currentVersion
  /// Names the catalogue, wherever it is copied to.
  var directoryUUID: String
  /// Unix milliseconds; written to the second. Nil when it was not said.
  var lastModified: Int64?
  /// SHA-256 of each shard that has rows: 64 hexadecimal digits in lower case.
  var shardChecksums: [Shard.Index: String] = [:]
  /// Photos in all shards. Nil when it was not said.
  var photoCount: Int64?
  /// As it was read: gives back the keys that are not ours, and the order of all.
  var document = JSONObject()

  init(directoryUUID: String) { self.directoryUUID = directoryUUID }

  /// The checksum of a shard's bytes; of the empty file when it is absent.
  func checksum(of shard: Shard.Index) -> String { shardChecksums[shard] ?? Shard.emptyChecksum }

  /// Sets a shard's checksum; the one of the empty file makes it absent.
  mutating func setChecksum(_ checksum: String, of shard: Shard.Index) {
    shardChecksums[shard] = checksum == Shard.emptyChecksum ? nil : checksum
  }
}
