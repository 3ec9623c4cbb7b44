import SatchelStorage

/// A shard's content as it is written, in blocks.
struct ShardLevel: Equatable {
  /// 0 for the empty one, which has no row.
  var id: Int64
  /// SHA-256 of the bytes.
  var checksum: String
  var photos: Int64
  /// Lines that are no photos.
  var kept: Int64
  var bytes: Int64

  static let empty = ShardLevel(id: 0, checksum: Shard.emptyChecksum, photos: 0, kept: 0, bytes: 0)

  /// The ids that its blocks have.
  var blocks: ClosedRange<Int64> { (id << 32)...(id << 32 | 0xFFFF_FFFF) }
}
