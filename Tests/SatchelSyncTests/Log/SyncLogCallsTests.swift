import SatchelAssets
import SatchelCore
import SatchelTesting
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("The calls of a sync to its ledger")
struct SyncLogCallsTests {
  let store = SyncMemoryStore()

  /// Syncs, and returns the calls.
  private func calls(_ device: SyncTestDevice) throws -> [String] {
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    let ledger = SyncNotingLedger(device.ledger)
    var run = try SyncLogRun(
      ledger, sizes: device.ledger.sizes, with: store, user: SyncTestDevice.user, options: SyncLogOptions(),
      probe: {})
    _ = try run.run()
    return ledger.calls.withLock { $0 }
  }

  @Test("one changed record is sent by two calls that read and two that write") func oneChange() throws {
    let device = try SyncTestDevice()
    try device.client.edit("a", ["x": "1"])
    try device.sync(store)
    try device.client.edit("a", ["x": "2"])
    #expect(try calls(device) == ["state", "changes", "begin", "confirm"])
    #expect(try calls(device) == ["state", "changes"])
  }

  @Test("a change that is made while another one is sent is sent as well") func changeMeanwhile() throws {
    let device = try SyncTestDevice()
    try device.client.edit("a", ["x": "1"])
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    let ledger = SyncNotingLedger(device.ledger)
    ledger.onConfirm.withLock { $0 = { try device.client.edit("b", ["x": "1"]) } }
    var run = try SyncLogRun(
      ledger, sizes: device.ledger.sizes, with: store, user: SyncTestDevice.user, options: SyncLogOptions(),
      probe: {})
    #expect(try run.run().sent == 2)
    #expect(ledger.calls.withLock { $0.count { $0 == "confirm" } } == 2)
  }
}

/// A ledger that notes the calls.
private struct SyncNotingLedger: SyncLogLedger {
  var ledger: SyncLogTables
  let calls = Locked<[String]>([])
  /// Called once before a written head is confirmed.
  let onConfirm = Locked<() throws -> Void>({})

  var keys: SyncLogKey? {
    get { ledger.keys }
    set { ledger.keys = newValue }
  }

  init(_ ledger: SyncLogTables) { self.ledger = ledger }

  private func called(_ name: String) { calls.withLock { $0.append(name) } }

  func state() throws -> SyncLogState {
    called("state")
    return try ledger.state()
  }

  func now() throws -> Int64 { try ledger.now() }

  func continuePhase(_ state: inout SyncLogState) throws -> Bool {
    if state.phase != nil { called("phase") }
    return try ledger.continuePhase(&state)
  }

  func reconcile(_ state: inout SyncLogState) throws {
    if state.work.isUnreconciled { called("reconcile") }
    try ledger.reconcile(&state)
  }

  func beginPull(all: Bool, from state: SyncLogState) throws -> SyncPull {
    called("pull")
    return try ledger.beginPull(all: all, from: state)
  }

  func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws {
    called("store")
    try ledger.store(entries, &pull)
  }

  func complete(
    _ pull: SyncPull, at head: SyncHead, etag: ETag, state: inout SyncLogState
  ) throws -> Bool {
    called("complete")
    return try ledger.complete(pull, at: head, etag: etag, state: &state)
  }

  func resolveUpload(_ state: inout SyncLogState) throws -> Bool {
    called("resolve")
    return try ledger.resolveUpload(&state)
  }

  func decide(_ state: inout SyncLogState) throws -> SyncDecided? {
    if state.work.hasUndecided { called("decide") }
    return try ledger.decide(&state)
  }

  func changes(_ state: inout SyncLogState, _ assets: AssetContext) throws -> SyncChanges {
    called("changes")
    return try ledger.changes(&state, assets)
  }

  var assets: (any AssetStorage)? { ledger.assets }

  func addAssets(
    number: Int64, horizon: Int64?, to changes: SyncChanges, object: () -> AssetObject
  ) throws -> [AssetObject] {
    called("assets")
    return try ledger.addAssets(number: number, horizon: horizon, to: changes, object: object)
  }

  func doubted(limit: Int, suspects: Bool) throws -> [AssetDoubt] {
    called("doubted")
    return try ledger.doubted(limit: limit, suspects: suspects)
  }

  func doubt(_ objects: [AssetObject]) throws { try ledger.doubt(objects) }

  func endDoubts(_ digests: [AssetDigest]) throws { try ledger.endDoubts(digests) }

  func namedObjects() throws -> Set<AssetObject> { try ledger.namedObjects() }

  func postponed() throws -> [SyncFailure] {
    called("postponed")
    return try ledger.postponed()
  }

  func preview() throws -> (changes: [(key: SyncKey, isDeletion: Bool)], failed: [SyncFailure]) {
    called("preview")
    return try ledger.preview()
  }

  func live(in packs: [SyncPack], above horizon: Int64) throws -> [SyncLiveEntries] {
    called("live")
    return try ledger.live(in: packs, above: horizon)
  }

  func exclude(through horizon: Int64, from changes: SyncChanges) throws {
    called("exclude")
    try ledger.exclude(through: horizon, from: changes)
  }

  func liveEntries(
    _ interval: ClosedRange<Int64>, above horizon: Int64, at state: SyncLogState
  ) throws -> (body: [UInt8], count: Int) {
    called("live entries")
    return try ledger.liveEntries(interval, above: horizon, at: state)
  }

  func survivors(
    of pull: SyncPull, after row: Int64, limit: Int64
  ) throws -> (entries: [(key: SyncKey, envelope: [UInt8])], row: Int64) {
    called("survivors")
    return try ledger.survivors(of: pull, after: row, limit: limit)
  }

  func sensitiveEntry() throws -> SyncKey? {
    called("sensitive")
    return try ledger.sensitiveEntry()
  }

  func begin(
    _ upload: SyncLogState.PendingUpload, _ changes: SyncChanges, at state: inout SyncLogState
  ) throws -> Bool {
    called("begin")
    return try ledger.begin(upload, changes, at: &state)
  }

  func confirm(
    _ upload: SyncLogState.PendingUpload, etag: ETag, compactions: Int64, state: inout SyncLogState
  ) throws -> Bool {
    called("confirm")
    let meanwhile = onConfirm.withLock { body in
      defer { body = {} }
      return body
    }
    try meanwhile()
    return try ledger.confirm(upload, etag: etag, compactions: compactions, state: &state)
  }

  func note(_ failures: [SyncChanges.Failure], _ obsolete: [SyncChanges.Obsolete]) throws {
    if !failures.isEmpty || !obsolete.isEmpty { called("note") }
    try ledger.note(failures, obsolete)
  }
}
