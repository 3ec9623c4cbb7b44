import Foundation
import Satchel
import SatchelCore
import SatchelRemoteTesting
import SatchelTesting
import Testing

/// The states that an observer receives, for which a test can wait.
final class SyncStates: Sendable {
  private let lock = ConditionLock()
  nonisolated(unsafe) private var states: [ContinuousSync.Status] = []

  var observer: @Sendable (ContinuousSync.Status) -> Void {
    { status in
      self.lock.withLock {
        self.states.append(status)
        self.lock.signal()
      }
    }
  }

  var all: [ContinuousSync.Status] { lock.withLock { states } }

  /// Waits until one of the states from a number on has a property; returns its number.
  @discardableResult
  func wait(from start: Int = 0, for property: (ContinuousSync.Status) -> Bool) -> Int {
    lock.withLock {
      while true {
        if let found = states.indices.dropFirst(start).first(where: { property(states[$0]) }) { return found }
        lock.wait()
      }
    }
  }
}

/// Counts the requests to a store, which fail while it is offline.
final class WatchedStore: ForwardingStore {
  let store: any ObjectStore
  private let isOffline: @Sendable () -> Bool
  private let count = Locked(0)

  init(_ store: any ObjectStore, isOffline: @escaping @Sendable () -> Bool = { false }) {
    (self.store, self.isOffline) = (store, isOffline)
  }

  var requests: Int { count.withLock { $0 } }

  private func begin() throws(ObjectStoreError) {
    count.withLock { $0 += 1 }
    if isOffline() { throw ObjectStoreError(.transient(retryAfter: nil), "offline") }
  }

  func get(_ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectReading
  {
    try begin()
    return try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try begin()
    return try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }
}

@Suite("Keeping a store in sync", .timeLimit(.minutes(5)))
struct ContinuousSyncTests {
  let devices: SyncDevices
  let store: Store
  let other: Store
  let states = SyncStates()

  init() throws {
    devices = try SyncDevices()
    store = try devices.store("phone")
    other = try devices.store("tablet")
    for each in [store, other] { _ = try each.records("notes") }
  }

  func run(
    _ remote: (any ObjectStore)? = nil, every seconds: Int64? = nil,
    network: @escaping @Sendable () -> Network = { .free }
  ) throws -> ContinuousSync {
    try store.runSync(
      with: remote ?? devices.remote, user: devices.user, every: seconds, network: network,
      observer: states.observer)
  }

  @Test("what was there is sent at once, and commits are sent by themselves") func commits() throws {
    try store.records("notes").put("first", ["text": "before"])
    let sync = try run()
    let begun = states.wait { $0.state == .idle }
    #expect(states.all.first?.state == .syncing)
    #expect(states.all[begun].report?.records.uploaded == 1)
    #expect(states.all[begun].lastSync != nil && states.all[begun].nextAt == nil)
    try store.records("notes").put("second", ["text": "meanwhile"])
    try store.state.set("theme", "dark", synced: true)
    let sent = states.wait(from: begun + 1) { $0.state == .idle && $0.report?.records.uploaded == 1 }
    try devices.sync(other)
    #expect(try Set(other.records("notes").documents.keys) == ["first", "second"])
    #expect(states.all[sent].failures == 0 && sync.status.error == nil)
  }

  @Test("the commit of another handle is sent, too") func otherHandle() throws {
    let sync = try run()
    let begun = states.wait { $0.state == .idle }
    let beside = try devices.store("phone")
    try beside.records("notes").put("first", ["text": "beside"])
    states.wait(from: begun + 1) { $0.state == .idle && $0.report?.records.uploaded == 1 }
    sync.stop()
  }

  @Test("changes of other devices come by the interval, and what they bring is not sent back") func interval()
    throws
  {
    try other.records("notes").put("first", ["text": "of the tablet"])
    try devices.sync(other)
    let sync = try run(every: 1)
    states.wait { $0.state == .idle && $0.report?.records.downloaded == 1 }
    try other.records("notes").put("second", ["text": "later"])
    try devices.sync(other)
    let next = states.wait(from: 2) { $0.state == .idle && $0.report?.records.downloaded == 1 }
    let later = states.wait(from: next + 1) { $0.state == .idle }
    #expect(states.all[later].report?.isUnchanged == true)
    sync.stop()
    #expect(try store.records("notes").documents.count == 2)
  }

  @Test("commits that need no sync send no request") func nothingToSend() throws {
    let counting = WatchedStore(devices.remote)
    // The first write probes the remote.
    try store.records("notes").put("probe", [:])
    let sync = try run(counting)
    let begun = states.wait { $0.state == .idle }
    let requests = counting.requests
    try store.records("drafts", synced: false).put("mine", ["text": "stays here"])
    try store.catalogue.persist(
      ["section": "news", "content": ["title": "today"]], at: Location(countryCode: "IT"))
    // Sent after all changes before it.
    try store.records("notes").put("first", ["text": "sent"])
    states.wait(from: begun + 1) { $0.state == .idle && $0.report?.records.uploaded == 1 }
    let used = counting.requests - requests
    sync.stop()
    let single = WatchedStore(devices.remote)
    try store.records("notes").put("second", ["text": "sent"])
    try store.sync(with: single, user: devices.user)
    #expect(used <= single.requests + 1)
  }

  @Test("a failure is reported and tried again; a request does not wait for that") func failure() throws {
    let offline = Locked(true)
    let sync = try run(WatchedStore(devices.remote) { offline.withLock { $0 } })
    let failed = states.wait { $0.state == .waiting }
    #expect(states.all[failed].error?.code == .unavailable)
    #expect(states.all[failed].failures == 1)
    #expect(states.all[failed].nextAt != nil)
    offline.withLock { $0 = false }
    try sync.request()
    let well = states.wait(from: failed + 1) { $0.state == .idle }
    #expect(states.all[well].error == nil && states.all[well].failures == 0)
  }

  @Test("without a network nothing is sent until a request or a later look finds one") func network() throws {
    let network = Locked(Network.none)
    let counting = WatchedStore(devices.remote)
    let sync = try run(counting) { network.withLock { $0 } }
    states.wait { $0.state == .held }
    #expect(counting.requests == 0)
    try sync.request()
    network.withLock { $0 = .free }
    states.wait { $0.state == .idle }
    #expect(counting.requests > 0)
  }

  @Test("on a metered network no assets are sent; their records wait") func metered() throws {
    let network = Locked(Network.metered)
    let picture = try store.assets.put([UInt8](repeating: 7, count: 100_000))
    try store.records("notes").put("first", ["picture": picture.json])
    let sync = try run { network.withLock { $0 } }
    let first = states.wait { $0.state == .idle }
    #expect(states.all[first].report?.assets.uploaded == 0)
    network.withLock { $0 = .free }
    try sync.request()
    states.wait(from: first + 1) { $0.state == .idle && $0.report?.assets.uploaded == 1 }
  }

  // MARK: The end

  @Test("the end of the user's session ends it, and nothing binds the store again") func signOut() throws {
    try store.records("notes").put("first", ["text": "sent"])
    let sync = try run(every: 1)
    states.wait { $0.state == .idle && $0.report?.records.uploaded == 1 }
    try store.signOut()
    let end = states.wait { $0.state == .ended }
    #expect(states.all[end].error?.code == .foreign)
    #expect(throws: SatchelError.self) { try sync.request() }
    try store.records("notes").put("guest", ["text": "of nobody"])
    #expect(try store.syncStatus().user == nil)
    // A new one binds it again.
    let again = try run()
    states.wait(from: end + 1) { $0.state == .idle }
    #expect(try store.syncStatus().user == "anna")
    again.stop()
  }

  @Test("a sign-out by another handle ends it as well") func signOutBeside() throws {
    let sync = try run(every: 1)
    states.wait { $0.state == .idle }
    let beside = try devices.store("phone")
    try beside.signOut()
    states.wait { $0.state == .ended }
    #expect(try beside.syncStatus().user == nil)
    #expect(sync.status.error?.code == .foreign)
  }

  @Test("a detached store and a deleted account end it") func detached() throws {
    _ = try run()
    let begun = states.wait { $0.state == .idle }
    try store.detach()
    let end = states.wait(from: begun) { $0.state == .ended }
    _ = try run()
    states.wait(from: end + 1) { $0.state == .idle }
    try store.deleteAccount(from: devices.remote, user: devices.user)
    states.wait(from: end + 1) { $0.state == .ended }
    #expect(try devices.remote.list(ObjectPrefix("records/anna/p")).isEmpty)
  }

  @Test("a store has one at a time, and closing it ends that") func closing() throws {
    let sync = try run()
    #expect(throws: SatchelError.self) { try run() }
    states.wait { $0.state == .idle }
    sync.stop()
    #expect(sync.status.state == .ended)
    let second = try run()
    try store.close()
    #expect(second.status.state == .ended)
    #expect(throws: SatchelError.self) { try second.request() }
  }

  @Test("releasing the store ends it") func release() throws {
    var store: Store? = try devices.store("released")
    let sync = try #require(store).runSync(
      with: devices.remote, user: devices.user, observer: states.observer)
    states.wait { $0.state == .idle }
    store = nil
    // Its thread may be the last that uses the store.
    while sync.status.state != .ended { usleep(1000) }
    #expect(throws: SatchelError.self) { try sync.request() }
  }

  @Test("stopping cancels a sync in progress") func cancellation() throws {
    let reached = ConditionLock()
    nonisolated(unsafe) var isReached = false
    let stuck = WatchedStore(devices.remote) {
      reached.withLock {
        isReached = true
        reached.signal()
      }
      return true
    }
    var options = StoreSyncOptions()
    options.retry = Retry(attempts: 1_000_000, base: 1, ceiling: 1, limit: .max)
    let sync = try store.runSync(
      with: stuck, user: devices.user, options: options, observer: states.observer)
    reached.withLock { while !isReached { reached.wait() } }
    sync.stop()
    #expect(sync.status.state == .ended)
  }

  @Test("options of single syncs and other intervals are refused") func refused() throws {
    for change: @Sendable (inout StoreSyncOptions) -> Void in [
      { $0.isDryRun = true }, { $0.verify = true }, { $0.purge = true }, { $0.acceptLoss = true },
      { $0.recreate = true },
    ] {
      var options = StoreSyncOptions()
      change(&options)
      let error = #expect(throws: SatchelError.self) {
        try store.runSync(with: devices.remote, user: devices.user, options: options)
      }
      #expect(error?.code == .invalid)
    }
    for seconds in [Int64.min, -1, 0, 31_536_001, .max] {
      #expect(throws: SatchelError.self) { try run(every: seconds) }
    }
  }
}
