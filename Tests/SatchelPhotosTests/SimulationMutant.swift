import SatchelRemoteTesting
import Testing

@testable import SatchelPhotos
@testable import SatchelRemote

/// A faulty object store or ledger that every sync of a schedule gets instead of the real one.
struct SimulationMutant: Sendable, CustomTestStringConvertible {
  typealias MakeStore = @Sendable (any ObjectStore, SimulationWorld) -> any ObjectStore
  typealias MakeLedger = @Sendable (any SatchelPhotos.SyncLedger) -> any SatchelPhotos.SyncLedger

  let testDescription: String
  /// The first seed of the search: one shortly before the first that finds it, where that takes many.
  let firstSeed: UInt64
  /// The schedule that finds it; nil for random ones.
  let script: SimulationScript<SimulationWorld>?
  let store: MakeStore
  let ledger: MakeLedger

  private init(
    _ description: String, from firstSeed: UInt64 = 0, script: SimulationScript<SimulationWorld>? = nil,
    store: @escaping MakeStore = { store, _ in store }, ledger: @escaping MakeLedger = { $0 }
  ) {
    testDescription = description
    self.firstSeed = firstSeed
    self.script = script
    self.store = store
    self.ledger = ledger
  }

  /// Random schedules find each of them.
  static let common = [
    SimulationMutant("the store ignores conditions", store: { store, _ in UnconditionalStore(store) }),
    SimulationMutant(
      "the store ignores the conditions of the manifest",
      store: { store, world in UnconditionalStore(store, only: world.manifestKey) }),
    SimulationMutant(
      "the manifest is written before the shard",
      store: { store, world in EarlyManifestStore(store: store, user: world.user) }),
    SimulationMutant(
      "the store gives the checksum of whatever bytes it returns",
      store: { store, _ in RecomputingStore(store: store) }),
    SimulationMutant(
      "the store gives a checksum to objects of other programs",
      store: { store, _ in RecomputingStore(store: store, isOnlyMissing: true) }),
    SimulationMutant(
      "the store caches the heads of uploaded shards", store: { store, _ in CachingStore(store: store) }),
    SimulationMutant(
      "listings have no etags", store: { store, _ in PlainListingStore(store: store) }),
    SimulationMutant(
      "the store denies writes over damaged objects",
      store: { store, world in UnrepairableStore(store: store, world: world) }),
    SimulationMutant(
      "the store does not check whether a manifest is the current one that is written to confirm it",
      from: 500,
      store: { store, world in UnconfirmedManifestStore(store: store, manifestKey: world.manifestKey) }),
    SimulationMutant(
      "the store keeps no ancestors", store: { store, _ in StoreWithoutAncestors(store: store) }),
    SimulationMutant(
      "changes during an upload count as uploaded", ledger: { LedgerConfirmingAllChanges(ledger: $0) }),
    SimulationMutant(
      "pending changes count as uploaded by a pull", ledger: { LedgerConfirmingByPull(ledger: $0) }),
    SimulationMutant("pending uploads are forgotten", ledger: { LedgerForgettingUploads(ledger: $0) }),
    SimulationMutant(
      "the bytes of the version synchronized last are forgotten",
      ledger: { LedgerForgettingVersions(ledger: $0) }),
    SimulationMutant("the etags of objects are forgotten", ledger: { LedgerForgettingETags(ledger: $0) }),
  ]

  /// Only a script leads to the situation of each of these.
  static let scripted = [
    SimulationMutant(
      "an earlier version is not recognized", script: SimulationScripts.restoredBackup,
      store: { store, _ in StoreWithoutAncestors(store: store) }),
    SimulationMutant(
      "an object that replaced an upload counts as built on it", script: SimulationScripts.overwrittenUpload,
      store: { store, world in StickyAncestorsStore(store: store, world: world) }),
  ]
}
