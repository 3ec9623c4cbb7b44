import SatchelCore

@testable import SatchelPhotos
import SatchelRemote
@testable import SatchelSync

// SatchelSync has a SyncLedger, too, of the sync log.

/// A wrapper around a ledger: each call goes to the wrapped ledger, unless the wrapper implements it.
protocol ForwardingLedger: SatchelPhotos.SyncLedger {
  var ledger: any SatchelPhotos.SyncLedger { get }
}

extension ForwardingLedger {
  func identify() throws { try ledger.identify() }

  func syncState() throws -> SyncState { try ledger.syncState() }

  func beginSync(uuid: String, user: UserID) throws { try ledger.beginSync(uuid: uuid, user: user) }

  func export(_ shard: Shard.Index) throws -> ShardExport { try ledger.export(shard) }

  func lastSynced(_ shard: Shard.Index) throws -> [UInt8] { try ledger.lastSynced(shard) }

  func recordPendingUpload(_ shard: Shard.Index, _ export: ShardExport) throws {
    try ledger.recordPendingUpload(shard, export)
  }

  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, ancestors: String?) throws {
    try ledger.finishUpload(shard, export: export, etag: etag, ancestors: ancestors)
  }

  func applyRemote(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    confirmedUpTo: Int64?, onConflict: ConflictPolicy, ancestors: String?, logsLostRows: Bool
  ) throws -> PullResult {
    try ledger.applyRemote(
      shard, bytes: bytes, checksum: checksum, etag: etag, expected: expected, confirmedUpTo: confirmedUpTo,
      onConflict: onConflict, ancestors: ancestors, logsLostRows: logsLostRows)
  }

  func keepsChanges(_ shard: Shard.Index, over bytes: [UInt8], onConflict: ConflictPolicy) throws -> Bool {
    try ledger.keepsChanges(shard, over: bytes, onConflict: onConflict)
  }

  func confirmIdentical(_ shard: Shard.Index, checksum: String, etag: ETag?, ancestors: String?) throws {
    try ledger.confirmIdentical(shard, checksum: checksum, etag: etag, ancestors: ancestors)
  }

  func finishSync(manifestETag: ETag?, uuid: String, user: UserID) throws {
    try ledger.finishSync(manifestETag: manifestETag, uuid: uuid, user: user)
  }
}

/// An upload confirms all local changes, also those that were made after the export.
struct LedgerConfirmingAllChanges: ForwardingLedger {
  let ledger: any SatchelPhotos.SyncLedger

  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, ancestors: String?) throws {
    var export = export
    export.sequence = try ledger.export(shard).sequence
    try ledger.recordPendingUpload(shard, export)
    try ledger.finishUpload(shard, export: export, etag: etag, ancestors: ancestors)
  }
}

/// A pull confirms all local changes, as if they were in the remote.
struct LedgerConfirmingByPull: ForwardingLedger {
  let ledger: any SatchelPhotos.SyncLedger

  func applyRemote(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    confirmedUpTo: Int64?, onConflict: ConflictPolicy, ancestors: String?, logsLostRows: Bool
  ) throws -> PullResult {
    try ledger.applyRemote(
      shard, bytes: bytes, checksum: checksum, etag: etag, expected: expected, confirmedUpTo: .max,
      onConflict: onConflict, ancestors: ancestors, logsLostRows: logsLostRows)
  }
}

/// Pending uploads are forgotten: the device's own upload looks like that of another device.
struct LedgerForgettingUploads: ForwardingLedger {
  let ledger: any SatchelPhotos.SyncLedger

  func syncState() throws -> SyncState {
    var state = try ledger.syncState()
    for index in state.shards.indices { state.shards[index].pendingUpload = nil }
    return state
  }

  func applyRemote(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    confirmedUpTo: Int64?, onConflict: ConflictPolicy, ancestors: String?, logsLostRows: Bool
  ) throws -> PullResult {
    try ledger.applyRemote(
      shard, bytes: bytes, checksum: checksum, etag: etag, expected: expected, confirmedUpTo: nil,
      onConflict: onConflict, ancestors: ancestors, logsLostRows: logsLostRows)
  }
}

/// The bytes of the version synchronized last are forgotten.
struct LedgerForgettingVersions: ForwardingLedger {
  let ledger: any SatchelPhotos.SyncLedger

  func lastSynced(_ shard: Shard.Index) throws -> [UInt8] { [] }
}

/// The etags of objects are forgotten.
struct LedgerForgettingETags: ForwardingLedger {
  let ledger: any SatchelPhotos.SyncLedger

  func syncState() throws -> SyncState {
    var state = try ledger.syncState()
    for index in state.shards.indices { state.shards[index].etag = nil }
    return state
  }
}
