import SatchelRemote
import SatchelSync

/// The local side of a sync. Each call is one transaction.
protocol SyncLedger: Sendable {
  /// Ensures that the catalogue has an identifier.
  func identify() throws

  /// Returns the state of the catalogue; writes nothing.
  func syncState() throws -> SyncState

  /// Stores the identity of the remote, before the first shard is applied; removes the manifest's etag.
  func beginSync(uuid: String, user: UserID) throws

  /// Returns a shard's content, base and changes, from one transaction.
  func export(_ shard: Shard.Index) throws -> ShardExport

  /// Returns the bytes of the version synchronized last; empty before the first sync.
  func lastSynced(_ shard: Shard.Index) throws -> [UInt8]

  /// Stores durably that these bytes are about to be uploaded.
  ///
  /// - Throws: `SatchelError` (`busy`) when the shard was changed after the export
  func recordPendingUpload(_ shard: Shard.Index, _ export: ShardExport) throws

  /// Records that an upload is in the remote: its bytes become the base, later changes stay.
  ///
  /// - Throws: `SatchelError` (`busy`) when the pending upload is no longer this one
  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, ancestors: String?) throws

  /// Makes verified bytes of the remote the base. Changes of photos that the bytes have as they were last synced stay;
  /// at the first sync, every photo that the bytes lack.
  ///
  /// - Parameters:
  ///   - expected: the checksum of the version synchronized last, when the pull was decided
  ///   - confirmedUpTo: changes up to this one are in the bytes, or in what they were built on
  ///   - onConflict: the policy for photos that both sides changed
  ///   - logsLostRows: whether rows of the version synchronized last that the bytes lack or change go to the
  ///     conflict log
  /// - Throws: `SatchelError` (`busy`) when another version has been synchronized meanwhile
  func applyRemote(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    confirmedUpTo: Int64?, onConflict: ConflictPolicy, ancestors: String?, logsLostRows: Bool
  ) throws -> PullResult

  /// Whether something would be left to upload after these bytes of the remote were applied; writes nothing.
  func keepsChanges(_ shard: Shard.Index, over bytes: [UInt8], onConflict: ConflictPolicy) throws -> Bool

  /// Records that both sides have the same content, when its etag was unknown, or nothing is left to upload.
  func confirmIdentical(_ shard: Shard.Index, checksum: String, etag: ETag?, ancestors: String?) throws

  /// Records that nothing of this manifest is left to pull. Without an etag the next sync reads it again.
  func finishSync(manifestETag: ETag?, uuid: String, user: UserID) throws
}

/// The state of a catalogue and of its remote, from one transaction.
struct SyncState: Sendable, Equatable {
  /// The catalogue's identifier, which a new remote gets. Nil while nothing was ever written.
  var uuid: String?
  /// The remote's identifier; nil until the first sync.
  var remoteUUID: String?
  /// The owner of the catalogue in the object store; nil until the first sync.
  var user: String?
  /// The etag of the manifest at the last complete sync.
  var manifestETag: ETag?
  /// All sixteen, in order.
  var shards: [ShardState]

  /// The identifier for a new manifest.
  var newRemoteUUID: String { remoteUUID ?? uuid ?? CatalogueTable.uuid() }
}

/// The known state of one shard on both sides.
struct ShardState: Sendable, Equatable {
  var index: Shard.Index
  /// SHA-256 of the version synchronized last; nil until the first sync.
  var syncedChecksum: String?
  /// The etag of the object that holds that version, if known.
  var etag: ETag?
  /// The current number of photos.
  var photos: Int64
  /// The number of photos in the version synchronized last.
  var syncedPhotos: Int64
  /// Whether there is something to upload.
  var hasChanges: Bool
  /// An upload that was started, and whose outcome is unknown.
  var pendingUpload: PendingShard?
  /// The ancestors of the version synchronized last; see `SyncAncestors`.
  var ancestors: String?
}

/// An upload that is recorded before it starts.
struct PendingShard: Sendable, Equatable {
  /// SHA-256 of the bytes.
  var checksum: String
  /// The last change that the bytes contain.
  var sequence: Int64
}

/// A shard's content as it is uploaded: base and changes merged.
struct ShardExport: Sendable, Equatable {
  var bytes: [UInt8]
  /// SHA-256 of the bytes.
  var checksum: String
  /// The last change that the bytes contain.
  var sequence: Int64
  var photos: Int64
}

/// The result of applying the remote's bytes.
struct PullResult: Sendable, Equatable {
  /// Photos in the bytes.
  var photos: Int64
  /// Rejected lines: the remote's, which stay in the shard, and local ones that it replaced.
  var rejected: [RejectedRow]
  /// Local photos that no longer exist.
  var removed: Int64 = 0
  /// Local changes that were overwritten; they are in the conflict log.
  var conflicts: Int
  /// Whether something is left to upload.
  var hasChanges: Bool
}
