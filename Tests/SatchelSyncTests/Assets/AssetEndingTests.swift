import SatchelCore
import SatchelRemote
import SatchelStorage
import Testing

@testable import SatchelSync

/// What a sync does must become less with each commit: a reservation that is dropped, and made again, never does.
@Suite("A sync with assets ends, whatever is reserved, dropped or changed meanwhile") struct AssetEndingTests
{
  let store = SyncMemoryStore()
  let one: AssetTestDevice
  let two: AssetTestDevice
  /// Those that are uploaded to a reservation.
  private let large = (0..<4).map { AssetContent(size: 2000 + $0) }

  init() throws {
    var sizes = SyncSizes()
    sizes.wholeAsset = 1000
    one = try AssetTestDevice(sizes)
    two = try AssetTestDevice(sizes, time: one.time)
  }

  private func check() throws {
    for device in [one, two] { #expect(try device.device.check().map(\.message) == []) }
  }

  /// Changes documents in one transaction.
  private func edit(_ documents: [(id: String, content: AssetContent)]) throws {
    try one.device.client.edit(
      documents.map { (try SyncKey("things", $0.id), AssetTestDevice.fields([$0.content.digest])) })
  }

  /// A sync, which is cancelled when it does not end.
  private func sync(
    _ store: any ObjectStore, purges: Bool = false, inEachRound: @escaping @Sendable () throws -> Void = {}
  ) throws -> SyncLogReport {
    let rounds = Locked(0)
    return try one.sync(store) { options in
      options.purges = purges
      options.progress = { step in
        guard step == .decide else { return }
        let round = rounds.withLock { rounds in
          rounds += 1
          return rounds
        }
        guard round < 30 else { throw SatchelError(.cancelled, "the sync does not end") }
        try inEachRound()
      }
    }
  }

  @Test(
    "the objects of a transaction are reserved by one commit, and the next one sends it",
    arguments: [false, true])
  func transaction(purges: Bool) throws {
    for content in large { try one.folder.add(content) }
    try edit([("a", large[0]), ("b", large[1]), ("c", large[2])])
    let report = try sync(store, purges: purges)
    #expect(report.commits == 2 && report.records.uploaded == 3 && report.failed.isEmpty)
    #expect(try one.assets().values.allSatisfy { $0.isReadable && $0.reservations.isEmpty })
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests == Set(large.prefix(3).map(\.digest)))
    try check()
  }

  @Test("nothing is reserved for a transaction that waits for another asset", arguments: [false, true])
  func waiting(purges: Bool) throws {
    try one.folder.add(large[0])
    try edit([("a", large[0]), ("b", large[1])])
    let report = try sync(store, purges: purges)
    #expect(report.failed.map(\.id) == ["b"] && report.commits == 0)
    #expect(try one.assets() == [:])
    try one.folder.add(large[1])
    #expect(try sync(store, purges: purges).records.uploaded == 2)
    try check()
  }

  @Test("a reservation that another device drops is made again by the next sync") func dropped() throws {
    try one.put("a", [large[0]])
    let (two, store) = (two, store)
    let purging = SyncInterceptingStore(store, each: true) { method in
      if method == "PUT" { try two.sync(store) { $0.purges = true } }
    }
    let report = try sync(purging)
    #expect(report.failed.map(\.code) == [.unavailable] && report.records.uploaded == 0)
    #expect(report.failed.first?.message.contains("reservation") ?? false)
    #expect(try sync(store).records.uploaded == 1)
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests == [large[0].digest])
    try check()
  }

  @Test(
    "a record that gets another large content before each commit is left for the next sync",
    arguments: [false, true])
  func busy(purges: Bool) throws {
    let (one, round) = (one, Locked(0))
    let report = try sync(store, purges: purges) {
      let round = round.withLock { round in
        round += 1
        return round
      }
      try one.put("a", [AssetContent(size: 3000 + round)])
    }
    #expect(report.commits == 3 && report.records.uploaded == 0)
    #expect(try sync(store, purges: purges).records.uploaded == 1)
    #expect(try one.assets().count == (purges ? 1 : 4))
    try check()
  }

  @Test("a purge leaves alone what another process reads, and writes nothing when it drops nothing")
  func otherGeneration() throws {
    try one.put("a", [AssetContent(size: 10)])
    try one.sync(store)
    // The other process has stored the asset's entry, and not that of the record.
    let ledger = one.device.ledger
    var pull = try ledger.beginPull(all: true, from: ledger.state())
    let entry = try #require(try one.device.entries().first { $0.key.collection == SyncKey.asset }?.value)
    let envelope = try SyncEnvelope(parsing: entry.envelope)
    try ledger.store([SyncEntry(sequence: entry.sequence, envelope: envelope)], &pull)
    #expect(try one.device.number("SELECT count(*) FROM sync_asset WHERE unreferenced = 1") == 1)
    #expect(try sync(store, purges: true).commits == 0)
    try one.refer("a", [])
    let report = try sync(store, purges: true)
    #expect(report.records.uploaded == 1 && report.assets.dropped == 1)
    #expect(store.assetKeys.isEmpty)
    try check()
  }
}
