import SatchelRemoteTesting

@testable import SatchelPhotos
@testable import SatchelRemote

/// The ledger of a device's catalogue as one sync sees it: a device that has crashed does nothing more.
struct SimulationLedger: SyncLedger {
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

  func noteIntent(_ shard: Shard.Index, _ export: ShardExport) throws {
    try step("intent \(shard) \(export.checksum.prefix(6))") {
      try ledger.noteIntent(shard, export)
      device.intents[shard] = SimulationPhoto.values(export.bytes)
    }
  }

  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, lineage: String?) throws {
    try step("finish \(shard)") {
      try ledger.finishUpload(shard, export: export, etag: etag, lineage: lineage)
      device.intents[shard] = nil
      try world.noteTaken(device, shard, export.bytes)
    }
  }

  func take(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    settledUpTo: Int64?, policy: SyncPolicy, lineage: String?, keepsLost: Bool
  ) throws -> Taken {
    try step("take \(shard) \(checksum.prefix(6))") {
      try world.checkTaken(shard, bytes, checksum)
      let taken = try ledger.take(
        shard, bytes: bytes, checksum: checksum, etag: etag, expected: expected, settledUpTo: settledUpTo,
        policy: policy, lineage: lineage, keepsLost: keepsLost)
      device.intents[shard] = nil
      try world.noteTaken(device, shard, bytes)
      return taken
    }
  }

  func agree(_ shard: Shard.Index, checksum: String, etag: ETag?, lineage: String?) throws {
    try step("agree \(shard) \(checksum.prefix(6))") {
      try ledger.agree(shard, checksum: checksum, etag: etag, lineage: lineage)
      device.intents[shard] = nil
    }
  }

  func finishSync(manifestETag: ETag?, uuid: String, user: UserID) throws {
    try step("end") { try ledger.finishSync(manifestETag: manifestETag, uuid: uuid, user: user) }
  }
}
