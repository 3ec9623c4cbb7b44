import SatchelRemote

/// What a sync asks of the local side. Each call is one transaction: it is done as a whole, or not at all.
protocol SyncLedger: Sendable {
  /// Makes sure that the catalogue has a name of its own.
  func identify() throws

  /// Writes nothing.
  func syncState() throws -> SyncState

  /// Notes whose catalogue and which master it is, before the first shard is agreed; forgets the manifest's tag.
  func beginSync(uuid: String, user: UserID) throws

  /// Base and changes as of one moment.
  func export(_ shard: Shard.Index) throws -> ShardExport

  /// The bytes last synced; empty where nothing was synced.
  func lastSynced(_ shard: Shard.Index) throws -> [UInt8]

  /// Notes, durably, that these bytes are about to be uploaded.
  ///
  /// - Throws: `SatchelError` (`busy`) when the shard was changed after the export
  func noteIntent(_ shard: Shard.Index, _ export: ShardExport) throws

  /// The upload is in the master: its bytes become the base, later changes stay.
  ///
  /// - Throws: `SatchelError` (`busy`) when the intent is no longer this one
  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, lineage: String?) throws

  /// Verified bytes of the master become the base.
  ///
  /// - Parameters:
  ///   - expected: what was agreed when it was decided to take them
  ///   - settledUpTo: changes up to this one are in the bytes, or in what they were built on
  ///   - policy: what happens to the changes that are left
  ///   - keepsLost: rows last synced that the bytes lack, or have otherwise, go to the conflict log
  /// - Throws: `SatchelError` (`busy`) when something else is agreed by now
  func take(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    settledUpTo: Int64?, policy: SyncPolicy, lineage: String?, keepsLost: Bool
  ) throws -> Taken

  /// Both sides have the same content; its tag was not known, or nothing is left to send.
  func agree(_ shard: Shard.Index, checksum: String, etag: ETag?, lineage: String?) throws

  /// Nothing of this manifest is left to take. Without a tag the next sync reads it again.
  func finishSync(manifestETag: ETag?, uuid: String, user: UserID) throws
}
