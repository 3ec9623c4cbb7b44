import SatchelRemoteTesting
import SatchelCore
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("Removal from a sync log")
struct SyncLogPurgeTests {
  let store = SyncMemoryStore()
  private static let headKey = "records/somebody/head"

  private var head: SyncHead {
    get throws { try SyncHead(parsing: store.objects[Self.headKey]?.body ?? []) }
  }

  private static var small: SyncSizes {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack) = (300, 1200, 1200)
    sizes.rewrittenPacks = 2
    return sizes
  }

  private func contains(_ text: String) -> Bool {
    store.objects.values.contains { $0.body.firstRange(of: Array(text.utf8)) != nil }
  }

  // MARK: Purge

  @Test("a purge removes the bytes of replaced and deleted entries") func purgeRemovesBytes() throws {
    let (one, two) = (try SyncTestDevice(Self.small), try SyncTestDevice(Self.small))
    for number in 0..<40 { try one.client.edit("\(number)", ["x": "first \(number)"]) }
    try one.sync(store)
    try two.sync(store)
    for number in stride(from: 0, to: 40, by: 4) { try one.client.edit("\(number)", nil) }
    for number in stride(from: 1, to: 40, by: 4) { try one.client.edit("\(number)", ["x": "second"]) }
    try one.sync(store)
    #expect(contains("first 0\"") && contains("first 37\""))
    let stray = "records/somebody/p/\(HexadecimalName.random(digits: 32))"
    try store.put(ObjectKey(stray), Array("first 0 in a pack that no head names".utf8))
    try two.client.edit("mine", ["x": "mine"])
    let report = try two.sync(store) { $0.purges = true }
    #expect(report.purged > 4 && report.commits > 2, "a commit rewrites two packs: \(report)")
    #expect(report.sent == 1 && report.swept == 1 && store.objects[stray] == nil)
    for number in 0..<40 {
      #expect(contains("first \(number)\"") == (number % 4 > 1), "\(number)")
    }
    #expect(store.objects.count == 1 + (try head).packs.count)
    for device in [one, try SyncTestDevice()] {
      try device.sync(store)
      #expect(try device.client.documents() == two.client.documents())
    }
    #expect(try two.client.documents().count == 31)
    let quiet = try two.sync(store) { $0.purges = true }
    #expect(quiet.purged == 0 && quiet.commits == 0)
  }

  @Test("a purge deletes the packs that the last compaction has replaced, also without a commit")
  func purgeDeletesWhat()
    throws
  {
    let device = try SyncTestDevice(Self.small)
    for number in 0..<10 { try device.client.edit("\(number)", ["x": "first \(number)"]) }
    try device.sync(store)
    try device.client.edit("0", nil)
    try device.sync(store)
    let failing = SyncFailingStore(store, at: 4, isAfter: true)
    // The connection ends after the head that replaces the pack.
    #expect(throws: (any Error).self) { try device.sync(failing) { $0.purges = true } }
    try device.sync(store)
    let retired = try head.retired
    #expect(!retired.isEmpty && contains("first 0\""))
    let report = try device.sync(store) { $0.purges = true }
    #expect(report.commits == 0 && !contains("first 0\""))
    #expect(store.objects.keys.allSatisfy { name in !retired.contains { name.hasSuffix($0) } })
    try device.client.edit("1", ["x": "2"])
    try device.sync(store)
    #expect(try SyncTestDevice().sync(store).records.downloaded == 9)
  }

  @Test("a reader of the previous head reads the head again") func readerHeadBefore() throws {
    let (one, two) = (try SyncTestDevice(Self.small), try SyncTestDevice(Self.small))
    for number in 0..<10 { try one.client.edit("\(number)", ["x": "first \(number)"]) }
    try one.sync(store)
    try one.client.edit("0", nil)
    try one.sync(store)
    let purging = SyncReadingStore(store) { key in
      if key.hasSuffix("head") { try one.sync(store) { $0.purges = true } }
    }
    #expect(try two.sync(purging).records.downloaded == 9)
    #expect(try one.client.documents() == two.client.documents())
  }

  @Test("objects that cannot be deleted are reported, and deleted by the next purge") func whatCannotDeleted()
    throws
  {
    let device = try SyncTestDevice(Self.small)
    for number in 0..<10 { try device.client.edit("\(number)", ["x": "first \(number)"]) }
    try device.sync(store)
    try device.client.edit("0", nil)
    try device.sync(store)
    let refusing = SyncReadingStore(store, deletes: false) { _ in }
    let error = #expect(throws: ObjectStoreError.self) { try device.sync(refusing) { $0.purges = true } }
    #expect(error?.reason == .denied && contains("first 0\""))
    try device.sync(store) { $0.purges = true }
    #expect(!contains("first 0\""))
  }

  // MARK: Horizon

  /// Writes a head in which deletions are dropped, as a later version of this library may.
  private func dropDeletions() throws {
    var head = try head
    #expect(head.packs.isEmpty)
    let entries = try head.entries(nil).filter { !$0.envelope.content.isDeleted }
    head.inline = entries.map { SyncFrame(sequence: $0.sequence, bytes: $0.envelope.bytes) }
    head.digest = SyncDigest()
    for entry in entries { head.digest.add(entry.envelope.key, entry.envelope.bytes) }
    head.count = Int64(entries.count)
    head.bytes = entries.reduce(0) { $0 + Int64($1.envelope.bytes.count) }
    head.position.number += 1
    head.horizon = head.position.number
    head.id = HexadecimalName.random(digits: 32)
    store.objects[Self.headKey] = SyncMemoryStore.Object(
      body: head.serialized(), etag: try #require(ETag("\"\(head.id)\"")), metadata: .none)
  }

  @Test("a device before the horizon deletes synced content that is absent from the log")
  func deviceBeforeHorizon()
    throws
  {
    let (one, two, three) = (try SyncTestDevice(), try SyncTestDevice(), try SyncTestDevice())
    for id in ["a", "b", "c", "d"] { try one.client.edit(id, ["x": "1"]) }
    for device in [one, two, three] { try device.sync(store) }
    for id in ["b", "c"] { try one.client.edit(id, nil) }
    try one.client.edit("d", ["x": "2"])
    for device in [one, three] { try device.sync(store) }
    // This one was away: it edits what was deleted, and has what was never synced.
    try two.client.edit("c", ["x": "edited"])
    try two.client.edit("e", ["x": "new"])
    try dropDeletions()
    let report = try two.sync(store)
    #expect(
      report.records.deletedLocally == 1 && report.records.downloaded == 1 && report.kept == 1
        && report.sent == 2)
    let documents = [
      "things/a": ["x": "1"], "things/c": ["x": "edited"], "things/d": ["x": "2"], "things/e": ["x": "new"],
    ]
    #expect(try two.client.documents() == documents)
    for device in [one, three, try SyncTestDevice()] {
      try device.sync(store)
      #expect(try device.client.documents() == documents)
    }
    #expect(try head.horizon > 0 && head.count == 4)
    for device in [one, two, three] { #expect(try device.sync(store).commits == 0) }
  }

  @Test("a device before the horizon reads the whole log, and one after it the new entries")
  func deviceReadsWhole() throws {
    let (one, two, three) = (try SyncTestDevice(), try SyncTestDevice(), try SyncTestDevice())
    for id in ["a", "b"] { try one.client.edit(id, ["x": "1"]) }
    for device in [one, two, three] { try device.sync(store) }
    try one.client.edit("b", nil)
    for device in [one, two] { try device.sync(store) }
    try dropDeletions()
    func generation(_ device: SyncTestDevice) throws -> Int64 { try device.ledger.state().generation }
    for device in [one, two, three] { try device.sync(store) }
    #expect(try generation(three) > 1)
    let before = try [one, two, three].map(generation)
    try one.client.edit("a", ["x": "2"])
    for device in [one, two, three] {
      try device.sync(store)
      #expect(try device.client.documents() == ["things/a": ["x": "2"]])
    }
    #expect(try [one, two, three].map(generation) == before)
  }
}

/// A store that calls something after the first read of an object, and may refuse to delete.
final class SyncReadingStore: ForwardingStore {
  let store: any ObjectStore
  private let deletes: Bool
  private let after: @Sendable (String) throws -> Void
  private let isFirst = Locked(true)

  init(_ store: SyncMemoryStore, deletes: Bool = true, _ after: @escaping @Sendable (String) throws -> Void) {
    self.store = store
    self.deletes = deletes
    self.after = after
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let reading = try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    let isFirst = isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
    if isFirst { try? after(key.text) }
    return reading
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    guard deletes else { throw ObjectStoreError(.denied, "\(key): may not be deleted") }
    try store.delete(key, ifMatch: known, cancellation: cancellation)
  }
}
