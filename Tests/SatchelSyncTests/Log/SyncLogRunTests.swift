import SatchelCore
import SatchelStorage
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("Syncs with a sync log")
struct SyncLogRunTests {
  let store = SyncMemoryStore()

  private func head() throws -> SyncHead {
    try SyncHead(parsing: store.objects["records/somebody/head"]?.body ?? [])
  }

  @Test("two devices exchange their entries, edits and deletions") func twoDevicesExchange() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.client.edit("b", ["x": "2"])
    #expect(try one.sync(store).sent == 2)
    let report = try two.sync(store)
    #expect(report.records.downloaded == 2 && report.commits == 0)
    #expect(try two.client.documents() == one.client.documents())
    try two.client.edit("a", nil)
    try two.client.edit("c", ["y": "3"])
    #expect(try two.sync(store).records.deletedRemotely == 1)
    #expect(try one.sync(store).records.deletedLocally == 1)
    #expect(try one.client.documents() == ["things/b": ["x": "2"], "things/c": ["y": "3"]])
    #expect(try one.status("c") == .synced && two.status("b") == .synced)
  }

  @Test("a sync without changes is one request, one with few changes is two, and reading one commit is one")
  func quietSyncOne()
    throws
  {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    for number in 0..<30 { try one.client.edit("\(number)", ["x": "\(number)"]) }
    try one.sync(store)
    #expect(store.takeRequests().count { $0 == "PUT head" } == 1)
    try two.sync(store)
    _ = store.takeRequests()
    for device in [one, two] {
      try device.sync(store)
      #expect(store.takeRequests() == ["GET head"])
    }
    for number in 0..<20 { try one.client.edit("\(number)", ["x": "again \(number)"]) }
    try one.sync(store)
    #expect(store.takeRequests() == ["GET head", "PUT head"])
    #expect(try two.sync(store).records.downloaded == 20)
    #expect(store.takeRequests() == ["GET head"])
  }

  @Test("a store that has read no head accepts one response that the head is missing") func storeReadNoHead()
    throws
  {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    for _ in 0..<2 {
      try one.sync(store)
      #expect(store.takeRequests() == ["GET head"])
    }
    try two.client.edit("a", ["x": "1"])
    // The first head of another device arrives between the two requests: neither is lost.
    let racing = SyncInterceptingStore(store) { method in
      guard method == "PUT", store.objects.isEmpty else { return }
      try one.client.edit("b", ["x": "2"])
      try one.sync(store)
    }
    try two.sync(racing)
    #expect(racing.requests == ["GET head", "PUT head", "GET head", "PUT head"])
    try one.sync(store)
    #expect(try one.client.documents() == two.client.documents() && one.client.documents().count == 2)
    #expect(try head().position.epoch == 1)
  }

  /// The packs of a first upload are not those of a log that has only begun.
  @Test("pending changes count for the size of the packs") func pendingCountsSize() throws {
    var sizes = SyncSizes()
    (sizes.inline, sizes.packShare, sizes.segmentsOfCommit) = (100, 6, 2)
    (sizes.smallestPack, sizes.largestPack, sizes.smallPacks) = (1000, 1 << 20, 1000)
    let device = try SyncTestDevice(sizes)
    for number in 0..<200 { try device.client.edit("\(number)", ["x": "\(number)"]) }
    let report = try device.sync(store)
    let head = try head()
    let full = sizes.fullPack(head.bytes)
    #expect(full > 5 * sizes.smallestPack && report.sent == 200)
    #expect(head.packs.dropLast().allSatisfy { $0.bytes > full * 3 / 4 && $0.bytes < full * 5 / 4 })
    #expect(head.packs.count < 12 && report.commits > 2)
    // A few changes are no reason to count.
    try device.client.edit("1", ["x": "again"])
    #expect(try device.changes().expectedBytes == 0)
  }

  @Test("a lost race costs one read and another head") func lostRaceCosts() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    try two.sync(store)
    try one.client.edit("a", ["x": "2"], now: 5)
    try two.client.edit("b", ["x": "3"])
    _ = store.takeRequests()
    // The other device writes between the two requests of this one.
    let racing = SyncInterceptingStore(store) { method in
      if method == "PUT" { try two.sync(store) }
    }
    try one.sync(racing)
    #expect(racing.requests == ["GET head", "PUT head", "GET head", "PUT head"])
    try two.sync(store)
    #expect(try one.client.documents() == two.client.documents())
    #expect(try two.client.documents() == ["things/a": ["x": "2"], "things/b": ["x": "3"]])
  }

  @Test("large changes are sent in segments, and many packs are merged") func largeChangesTravel() throws {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack) = (600, 3000, 3000)
    (sizes.smallPacks, sizes.mergedPacks, sizes.deadBytes) = (4, 3, 2000)
    let (one, two) = (try SyncTestDevice(sizes), try SyncTestDevice())
    for number in 0..<100 { try one.client.edit("\(number)", ["x": String(repeating: "x", count: 200)]) }
    let first = try one.sync(store)
    #expect(first.sent == 100 && first.commits > 1, "a commit has at most eight full packs")
    for round in 0..<30 {
      for number in 0..<3 {
        try one.client.edit("\((round * 7 + number) % 100)", ["x": "\(round) \(number)"])
      }
      try one.sync(store)
      if round % 5 == 0 { try two.sync(store) }
    }
    try two.sync(store)
    #expect(try two.client.documents() == one.client.documents())
    let head = try head()
    #expect(head.packs.count < 40 && head.packBytes < head.bytes * 2 + 4000)
    #expect(try SyncTestDevice().sync(store).records.downloaded == 100)
    // Packs that no head names were deleted, except those that the last compaction replaced.
    let objects = Set(store.objects.keys).subtracting(["records/somebody/head"])
    #expect(objects == Set((head.packs.map(\.name) + head.retired).map { "records/somebody/p/\($0)" }))
  }

  @Test("changes of one transaction are in one commit") func changesOneTransaction() throws {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack, sizes.segmentsOfCommit) = (100, 600, 600, 1)
    let device = try SyncTestDevice(sizes)
    // Of content from before that, each change is sent by itself.
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    while try device.continuePhase() {}
    func keys(_ range: Range<Int>) throws -> [(key: SyncKey, fields: [String: String]?)] {
      try range.map { (try SyncKey("things", "\($0)"), ["x": "1"]) }
    }
    try device.client.edit(keys(0..<2))
    try device.client.edit(keys(2..<6))
    let report = try device.sync(store)
    #expect(report.sent == 6 && report.isCut, "four documents are more than a commit has")
    try device.client.edit(keys(10..<11))
    try device.client.edit(keys(11..<13))
    let changes = try device.changes()
    #expect(changes.changes.count == 3 && !changes.hasMore)
    try device.client.edit(keys(13..<14))
    #expect(try device.changes().changes.count == 3)
  }

  @Test("an entry of a collection that is not declared is kept, and applied when it is")
  func entryCollectionNot() throws {
    let (one, two, three) = (try SyncTestDevice(), try SyncTestDevice(), try SyncTestDevice())
    one.client.declared = ["things", "others"]
    try one.client.edit([(try SyncKey("others", "o"), ["x": "1"]), (try SyncKey("things", "t"), ["x": "2"])])
    try one.sync(store)
    #expect(try two.sync(store).records.downloaded == 1)
    #expect(try two.client.documents() == ["things/t": ["x": "2"]])
    #expect(try two.ledger.statistics().map(\.collection) == ["others", "things"])
    _ = store.takeRequests()
    two.client.declared = ["others", "things"]
    try two.ledger.reconcile()
    try two.ledger.decideAll()
    #expect(store.takeRequests() == [])
    #expect(try two.client.documents() == one.client.documents())
    // Local content from before the declaration is sent.
    try three.client.edit([(try SyncKey("others", "mine"), ["x": "3"])])
    try three.sync(store)
    #expect(try head().count == 2)
    three.client.declared = ["others", "things"]
    try three.ledger.reconcile()
    try three.sync(store)
    #expect(try head().count == 3)
  }

  @Test("an entry that cannot be applied waits, and does not stop the others") func entryRefusedWaits() throws
  {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.client.edit("b", ["x": "2"])
    try one.sync(store)
    let key = try SyncKey("things", "a")
    two.client.refused = [key]
    #expect(try two.sync(store).records.waiting == 1)
    #expect(try two.client.documents() == ["things/b": ["x": "2"]])
    #expect(try two.status("a") == .waiting)
    #expect(try two.sync(store).records.waiting == 0, "it is decided again when something has changed")
    two.client.refused = []
    try two.database.write { try SyncTracker($0)?.reconsider(key) }
    #expect(try two.sync(store).records.downloaded == 1)
  }

  @Test("a change that cannot be sent does not stop the others") func changeCannotSent() throws {
    let device = try SyncTestDevice()
    try device.client.edit("a", ["x": "1"])
    try device.client.edit("b", ["x": "2"])
    device.client.unsendable = [try SyncKey("things", "a")]
    let report = try device.sync(store)
    #expect(report.sent == 1 && report.failed.map(\.key.id) == ["a"])
    let second = try device.sync(store)
    #expect(second.failed == report.failed && second.commits == 0, "it is tried again later")
    // A change of it is tried at once, and one of another document does not.
    try device.client.edit("b", ["x": "3"])
    #expect(try device.sync(store).failed == report.failed)
    device.client.unsendable = []
    #expect(try device.sync(store).failed == report.failed)
    try device.client.edit("a", ["x": "corrected"])
    let last = try device.sync(store)
    #expect(last.failed == [] && last.sent == 1)
  }

  @Test("the host decides about a conflict") func hostDecidesAbout() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    try two.sync(store)
    two.client.policy = .ask
    try one.client.edit("a", ["x": "one"])
    try two.client.edit("a", ["x": "two"])
    try one.sync(store)
    #expect(try two.sync(store).records.conflicts == 1)
    #expect(try two.status("a") == .conflict && two.sync(store).sent == 0)
    try two.client.resolve(SyncKey("things", "a"), useRemote: false, now: 9)
    #expect(try two.sync(store).sent == 1)
    #expect(try one.sync(store).records.downloaded == 1)
    #expect(try one.client.documents() == ["things/a": ["x": "two"]])
  }

  @Test("a store is bound to one remote and user until it is detached") func storeBoundOne() throws {
    let device = try SyncTestDevice()
    try device.client.edit("a", ["x": "1"])
    try device.sync(store)
    for (remote, user) in [("other", "somebody"), ("memory", "other")] {
      let error = #expect(throws: SatchelError.self) {
        try device.ledger.bind(remote: remote, user: UserID(user))
      }
      #expect(error?.code == .foreign)
    }
    try device.ledger.detach()
    #expect(try device.client.documents().count == 1 && device.number("SELECT count(*) FROM sync_entry") == 0)
    try device.sync(store)
    #expect(try head().count == 1 && device.status("a") == .synced)
  }

  @Test("a lost head is rebuilt from the entries of the devices") func lostHeadMade() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    try two.client.edit("b", ["x": "2"])
    try two.sync(store)
    store.objects["records/somebody/head"] = nil
    // Nothing else is there: the remote may be another place.
    let error = #expect(throws: SatchelError.self) { try one.sync(store) }
    #expect(error?.code == .unavailable && store.objects.isEmpty)
    try one.sync(store) { $0.recreates = true }
    try two.sync(store)
    try one.sync(store)
    #expect(try head().position.epoch == 2 && head().count == 2)
    #expect(try one.client.documents() == two.client.documents() && one.client.documents().count == 2)
  }

  private func packed() throws -> (one: SyncTestDevice, two: SyncTestDevice, pack: String) {
    var sizes = SyncSizes()
    sizes.inline = 100
    let (one, two) = (try SyncTestDevice(sizes), try SyncTestDevice(sizes))
    for number in 0..<5 { try one.client.edit("\(number)", ["x": "1"]) }
    try one.sync(store)
    return (one, two, "records/somebody/p/\(try head().packs[0].name)")
  }

  @Test("a missing pack is rewritten by a device that has it") func missingPackWritten() throws {
    let (one, two, pack) = try packed()
    store.objects[pack] = nil
    let error = #expect(throws: SatchelError.self) { try two.sync(store) }
    #expect(error?.code == .damaged && error?.message.contains("5 entries") == true)
    #expect(try one.sync(store) { $0.sweeps = true }.repaired == 1)
    #expect(try two.sync(store).records.downloaded == 5)
  }

  @Test("a pack that no device has is given up only when a loss is accepted") func packNobodyGiven() throws {
    let (_, two, pack) = try packed()
    try two.client.edit("mine", ["x": "2"])
    store.objects[pack] = nil
    #expect(throws: SatchelError.self) { try two.sync(store) }
    let report = try two.sync(store) { $0.acceptsLoss = true }
    #expect(report.losses.map(\.entries) == [5] && report.sent == 1)
    #expect(try head().count == 1)
  }

  @Test("a sweep deletes what no head names") func sweepDeletesWhat() throws {
    let (one, _, _) = try packed()
    let name = "records/somebody/p/\(HexadecimalName.random(digits: 32))"
    let other = "records/somebody/p/readme.txt"
    for key in [name, other] { try store.put(ObjectKey(key), [1]) }
    #expect(try one.sync(store) { $0.sweeps = true }.swept == 1)
    #expect(store.objects[name] == nil && store.objects[other] != nil)
    #expect(try head().fence == head().position.number)
  }

  @Test("a sync with an encrypted or newer log changes nothing") func encryptedNewerLog() throws {
    let (one, two, _) = try packed()
    var head = try head()
    head.key = "0011223344556677"
    let (line, frames) = SyncHeadChecksum.parts(
      of: head.serialized().replacing("\"format\":2", "\"format\":3"))
    for (body, code) in [
      (head.serialized(), SatchelError.Code.unauthorized),
      (SyncHeadChecksum.added(to: Array(line), Array(frames)), SatchelError.Code.newer),
    ] {
      store.objects["records/somebody/head"] = SyncMemoryStore.Object(
        body: body, etag: try #require(ETag("\"\(code)\"")), metadata: .none)
      for device in [one, two] {
        let error = #expect(throws: SatchelError.self) { try device.sync(store) }
        #expect(error?.code == code)
      }
      #expect(store.objects["records/somebody/head"]?.body == body)
    }
  }

  @Test("a cancelled sync ends between requests") func cancelledSyncEnds() throws {
    let device = try SyncTestDevice()
    try device.client.edit("a", ["x": "1"])
    let isCancelled = Locked(false)
    let cancelling = SyncInterceptingStore(store) { _ in isCancelled.withLock { $0 = true } }
    #expect(throws: (any Error).self) {
      try device.sync(cancelling) { $0.cancellation = Cancellation { isCancelled.withLock { $0 } } }
    }
    #expect(cancelling.requests == ["GET head"])
    try device.sync(store)
    #expect(try head().count == 1)
  }

  @Test("a restored store gets a new writer name before it sends") func restoredStoreTakes() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    func writer() throws -> String { try one.database.read { try SyncLogTables.writer($0) } }
    let name = try writer()
    try one.sync(store)
    #expect(try writer() == name)
    let snapshot = SyncSnapshot(one.database)
    try snapshot.take()
    try one.client.edit("a", ["x": "2"])
    try one.sync(store)
    try two.sync(store)
    try snapshot.restore()
    #expect(try one.client.documents() == ["things/a": ["x": "1"]] && writer() == name)
    try one.client.edit("b", ["x": "3"])
    try one.sync(store)
    #expect(try writer() != name)
    try two.sync(store)
    #expect(try two.client.documents() == ["things/a": ["x": "2"], "things/b": ["x": "3"]])
  }

  /// The store has been restored, and is answered with an old head: it begins to send a change under a number that it has
  /// used before, and then reads entries that seem to be built on that change.
  @Test("a restored store distinguishes its earlier changes from those that it has just sent")
  func restoredStoreDistinguishesItsChanges() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("z", ["x": "0"])
    try one.sync(store)
    let old = try #require(store.objects["records/somebody/head"])
    let snapshot = SyncSnapshot(one.database)
    try snapshot.take()
    for value in ["1", "2"] {
      try one.client.edit("a", ["x": value])
      try one.sync(store)
    }
    let newest = try #require(store.objects["records/somebody/head"])
    try snapshot.restore()
    try one.client.edit("a", ["x": "mine"])
    let stale = SyncInterceptingStore(store) { [store] method in
      store.objects["records/somebody/head"] = method == "GET" ? old : newest
    }
    try one.sync(stale)
    #expect(stale.requests.prefix(3) == ["GET head", "PUT head", "GET head"])
    // Both were changed at the same time, and "mine" is the greater one.
    try two.sync(store)
    for device in [one, two] { #expect(try device.client.documents()["things/a"] == ["x": "mine"]) }
  }
}
