import SatchelRemoteTesting

@testable import SatchelPhotos
import SatchelRemote
@testable import SatchelSync

/// The ledger of a device's catalogue in one sync: after a crash of the device every call fails.
struct SimulationLedger: SatchelPhotos.SyncLedger {
  let world: SimulationWorld
  let device: SimulationDevice
  let sync: SimulationSync<SyncReport>

  private var ledger: PhotoCatalogue { device.catalogue }

  private func step<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
    try world.step(device, sync, name, body)
  }

  func identify() throws { try step("identify") { try ledger.identify() } }

  func syncState() throws -> SyncState { try step("state") { try ledger.syncState() } }

  func beginSync(uuid: String, user: UserID) throws {
    try step("begin") { try ledger.beginSync(uuid: uuid, user: user) }
  }

  func export(_ shard: Shard.Index) throws -> ShardExport {
    try step("export \(shard)") { try ledger.export(shard) }
  }

  func lastSynced(_ shard: Shard.Index) throws -> [UInt8] {
    try step("last synced \(shard)") { try ledger.lastSynced(shard) }
  }

  func recordPendingUpload(_ shard: Shard.Index, _ export: ShardExport) throws {
    try step("pending upload \(shard) \(export.checksum.prefix(6))") {
      try ledger.recordPendingUpload(shard, export)
      device.pendingUploads[shard] = SimulationPhoto.values(export.bytes)
    }
  }

  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, ancestors: String?) throws {
    try step("finish \(shard)") {
      try ledger.finishUpload(shard, export: export, etag: etag, ancestors: ancestors)
      device.pendingUploads[shard] = nil
      try world.recordArrived(device, shard, export.bytes)
      try world.recordApplied(device, shard, export.bytes)
    }
  }

  func applyRemote(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    confirmedUpTo: Int64?, onConflict: ConflictPolicy, ancestors: String?, logsLostRows: Bool
  ) throws -> PullResult {
    try step("apply \(shard) \(checksum.prefix(6))") {
      try world.checkApplied(shard, bytes, checksum)
      let pulled = try ledger.applyRemote(
        shard, bytes: bytes, checksum: checksum, etag: etag, expected: expected, confirmedUpTo: confirmedUpTo,
        onConflict: onConflict, ancestors: ancestors, logsLostRows: logsLostRows)
      device.pendingUploads[shard] = nil
      try world.recordApplied(device, shard, bytes)
      return pulled
    }
  }

  func keepsChanges(_ shard: Shard.Index, over bytes: [UInt8], onConflict: ConflictPolicy) throws -> Bool {
    try step("keeps changes \(shard)") { try ledger.keepsChanges(shard, over: bytes, onConflict: onConflict) }
  }

  func confirmIdentical(_ shard: Shard.Index, checksum: String, etag: ETag?, ancestors: String?) throws {
    try step("confirm \(shard) \(checksum.prefix(6))") {
      try ledger.confirmIdentical(shard, checksum: checksum, etag: etag, ancestors: ancestors)
      device.pendingUploads[shard] = nil
    }
  }

  func finishSync(manifestETag: ETag?, uuid: String, user: UserID) throws {
    try step("end") { try ledger.finishSync(manifestETag: manifestETag, uuid: uuid, user: user) }
  }
}
