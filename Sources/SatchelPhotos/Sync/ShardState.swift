import SatchelRemote

/// What a catalogue knows of one shard on both sides.
struct ShardState: Sendable, Equatable {
  var index: Shard.Index
  /// SHA-256 of the master's bytes as last agreed; nil when there never was an agreement.
  var agreed: String?
  /// The tag of the object that holds those bytes, where it is known.
  var etag: ETag?
  /// Photos as they are now.
  var photos: Int64
  /// Photos in the bytes that were agreed.
  var agreedPhotos: Int64
  /// Whether something is to be sent.
  var hasChanges: Bool
  /// An upload that began and was not seen to end.
  var intent: UploadIntent?
  /// What the agreed object was built on; see `SyncLineage`.
  var lineage: String?
}

/// An upload that is about to happen, noted before it does.
struct UploadIntent: Sendable, Equatable {
  /// SHA-256 of the bytes.
  var checksum: String
  /// The last change that they hold.
  var sequence: Int64
}
