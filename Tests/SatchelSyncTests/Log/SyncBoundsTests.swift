import SatchelCore
import SatchelStorage
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("The bounds of a sync")
struct SyncBoundsTests {
  let store = SyncMemoryStore()
  private static let headKey = "records/somebody/head"

  private func head() throws -> SyncHead { try SyncHead(parsing: store.objects[Self.headKey]?.body ?? []) }

  private func replace(_ head: SyncHead) throws {
    store.objects[Self.headKey] = SyncMemoryStore.Object(
      body: head.serialized(), etag: try #require(ETag("\"\(head.id)\"")), metadata: .none)
  }

  // MARK: Rounds

  @Test("an app that writes during each request gets at most two further commits", arguments: [1, 40])
  func busyApp(_ first: Int) throws {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack, sizes.segmentsOfCommit) = (300, 600, 600, 2)
    let (quiet, busy) = (try SyncTestDevice(sizes), try SyncTestDevice(sizes))
    for device in [quiet, busy] {
      try device.sync(SyncMemoryStore())
      for number in 0..<first { try device.client.edit("\(number)", ["x": "1"]) }
    }
    let expected = try quiet.sync(SyncMemoryStore()).commits
    let edits = Locked(0)
    let writing = SyncInterceptingStore(store, each: true) { _ in
      let edit = edits.withLock { edits in
        edits += 1
        return edits
      }
      // The record that was just sent, and a new one.
      try busy.client.edit("0", ["x": "\(edit)"])
      try busy.client.edit("new \(edit)", ["x": "\(edit)"])
    }
    let report = try busy.sync(writing)
    #expect(report.commits > expected && report.commits <= expected + 2)
    #expect(writing.requests.count { $0 == "PUT head" } == report.commits)
    for number in 1..<first { #expect(try busy.status("\(number)") == .synced) }
    #expect(try busy.status("0") == .pending, "it is written faster than it is sent")
    // The next sync sends the rest.
    try busy.sync(store)
    #expect(try head().count == busy.client.documents().count)
  }

  @Test("what a sync sends again after a loss counts as pending when it began") func lossDuringSync() throws {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack, sizes.segmentsOfCommit) = (100, 300, 300, 1)
    let device = try SyncTestDevice(sizes)
    for number in 0..<30 { try device.client.edit("\(number)", ["x": "1"]) }
    try device.sync(store)
    try device.client.edit("last", ["x": "2"])
    let losing = SyncInterceptingStore(store) { method in
      if method == "PUT" { store.objects = [:] }
    }
    try device.sync(losing)
    #expect(try head().count == 31 && head().position.epoch == 2)
  }

  // MARK: Numbers

  @Test("a head with an epoch or a number above 2^52 is damaged") func numbersAtLimit() throws {
    let limit: Int64 = 1 << 52
    for (epoch, number) in [(1, limit), (limit, 1)] {
      let head = SyncHead(position: SyncHead.Position(epoch: epoch, log: "0123456789abcdef", number: number))
      #expect(try SyncHead(parsing: head.serialized()).position == head.position)
    }
    for (epoch, number) in [(1, limit + 1), (limit + 1, 1)] {
      let head = SyncHead(position: SyncHead.Position(epoch: epoch, log: "0123456789abcdef", number: number))
      let error = #expect(throws: SatchelError.self) { try SyncHead(parsing: head.serialized()) }
      #expect(error?.code == .damaged)
    }
  }

  /// One whose epoch and number are further from the known ones than any devices can have written.
  @Test("a head that is impossibly far ahead changes nothing, and is replaced when the loss is accepted")
  func jumps() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    try two.sync(store)
    let (jump, epoch) = (SyncHead.Position.maximumJump, try head().position.epoch)
    for (epochs, numbers) in [(0, jump), (jump, 0)] as [(Int64, Int64)] {
      let known = try head()
      var far = known
      far.id = HexadecimalName.random(digits: 32)
      far.position.epoch += epochs + 1
      far.position.number += numbers + 1
      try replace(far)
      let before = try one.dump()
      let error = #expect(throws: SatchelError.self) { try one.sync(store) }
      #expect(error?.code == .damaged)
      #expect(try one.dump() == before && head() == far)
      try one.sync(store) { $0.acceptsLoss = true }
      try two.sync(store)
      #expect(try head().position.epoch == known.position.epoch + 1 && head().count == 1)
    }
    #expect(try head().position.epoch == epoch + 2)
    for device in [one, two] { #expect(try device.check() == []) }
  }

  @Test("a device that has read a head at the limit writes one that can be read, in a renumbered log")
  func headAtLimit() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    var far = try head()
    far.id = HexadecimalName.random(digits: 32)
    far.position.number = SyncPack.numbers.upperBound
    try replace(far)
    try two.sync(store)
    try two.client.edit("b", ["x": "2"])
    try two.sync(store)
    #expect(try head().position.number < 100 && head().position.epoch == 2 && head().count == 2)
    let three = try SyncTestDevice()
    try three.sync(store)
    #expect(try three.client.documents() == two.client.documents())
    for device in [two, three] { #expect(try device.check() == []) }
  }

  @Test("a device that has read an impossible head goes on with the healthy one when it is back")
  func healthyHeadIsBack() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    let healthy = store.objects
    let limit = SyncPack.numbers.upperBound
    for (epoch, number) in [(1, limit), (limit, 3)] as [(Int64, Int64)] {
      store.objects = healthy
      var far = try head()
      far.id = HexadecimalName.random(digits: 32)
      (far.position.epoch, far.position.number) = (epoch, number)
      try replace(far)
      try two.ledger.detach()
      try two.sync(store)
      store.objects = healthy
      try two.client.edit("b", ["x": "\(epoch)"])
      try two.sync(store)
      try one.sync(store)
      #expect(try one.client.documents() == two.client.documents() && head().count == 2)
      #expect(try head().position.epoch == 1)
    }
  }

  @Test("a greater revision than others accept is sent as the greatest one") func revisions() throws {
    let content = SyncContent(document: Array("{}".utf8), revision: 1 << 53, created: 1, modified: 1)
    let envelope = SyncEnvelope(
      content, of: try SyncKey("things", "a"), version: 1, writer: "w", number: 1, base: nil,
      ancestors: SyncVersionVector())
    #expect(try SyncEnvelope(parsing: envelope.bytes).content.revision == 1 << 52)
  }

  // MARK: Bodies

  @Test("a head that is too large is not received, and is replaced when the loss is accepted")
  func largeHead() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit("a", ["x": "1"])
    try one.sync(store)
    store.objects[Self.headKey] = SyncMemoryStore.Object(
      body: [UInt8](repeating: 0x20, count: SyncHead.maximumSize + 1), etag: try #require(ETag("\"large\"")),
      metadata: .none)
    for device in [one, two] {
      let error = #expect(throws: SatchelError.self) { try device.sync(store) }
      #expect(error?.code == .damaged)
    }
    try one.sync(store) { $0.acceptsLoss = true }
    try two.sync(store)
    #expect(try two.client.documents() == one.client.documents() && head().position.epoch == 2)
  }

  /// A device that has many packs of one entry each, of which `count` are larger than their references say.
  private func packs(_ all: Int, damaged count: Int) throws -> SyncTestDevice {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack, sizes.smallPacks) = (100, 300, 300, 1000)
    let device = try SyncTestDevice(sizes)
    for number in 0..<all { try device.client.edit("\(number)", ["x": String(repeating: "x", count: 200)]) }
    try device.sync(store)
    let packs = try head().packs
    #expect(packs.count == all)
    for pack in packs.suffix(count) { store.objects["records/somebody/p/\(pack.name)"]?.body.append(0) }
    return device
  }

  @Test("after sixteen unreadable packs the others are not tried") func unreadablePacks() throws {
    let device = try packs(80, damaged: 60)
    _ = store.takeRequests()
    let error = #expect(throws: SatchelError.self) { try SyncTestDevice().sync(store) }
    #expect(error?.code == .damaged && error?.message.contains("possibly others") == true)
    let rounds = 4
    #expect(store.takeRequests().count { $0 == "GET p" } <= rounds * (20 + 16 * SyncLogRemote.attempts))
    // A device that has them all writes them again.
    #expect(try device.sync(store) { $0.verifies = true }.repaired == 60)
    #expect(try SyncTestDevice().sync(store).records.downloaded == 80)
  }

  @Test("a loss that is accepted gives up no pack that can be read") func acceptedLoss() throws {
    let device = try packs(60, damaged: 0)
    for pack in try head().packs.prefix(30) { store.objects["records/somebody/p/\(pack.name)"] = nil }
    let two = try SyncTestDevice()
    let report = try two.sync(store) { $0.acceptsLoss = true }
    #expect(report.losses.count == 30 && report.records.downloaded == 30)
    try device.sync(store)
    #expect(try two.sync(store).records.downloaded == 30)
  }
}
