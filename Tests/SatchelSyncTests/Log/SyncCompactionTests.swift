import Testing

@testable import SatchelSync

@Suite("Compaction of the sync log")
struct SyncCompactionTests {
  private static let kib: Int64 = 1 << 10

  private func packs(_ bytes: [Int64]) -> [SyncPack] {
    bytes.enumerated().map {
      SyncValues.pack("1", Int64($0.offset) * 10 + 1, Int64($0.offset) * 10 + 10, bytes: $0.element)
    }
  }

  private func plan(_ bytes: [Int64], _ live: [Int64], required: [Int] = []) -> [Range<Int>] {
    SyncCompaction.plan(
      packs(bytes), live: live.map { SyncLiveEntries(count: 2, bytes: $0) }, bytes: live.reduce(0, +),
      required: required, SyncSizes()
    ).rewrites
  }

  @Test("a full pack is a part of all bytes, within bounds") func fullPackPart() {
    let sizes = SyncSizes()
    #expect(sizes.fullPack(0) == 1 << 20)
    #expect(sizes.fullPack(128 << 20) == 2 << 20)
    #expect(sizes.fullPack(1 << 40) == 16 << 20)
  }

  @Test("few small packs stay") func fewSmallPacks() {
    let bytes = [Int64](repeating: 16 * Self.kib, count: 24)
    #expect(plan(bytes, bytes) == [])
    #expect(!SyncSizes().needCompaction(packs(bytes), bytes: 24 * 16 * Self.kib))
  }

  @Test("of many small packs the eight adjacent ones with the fewest live bytes become one")
  func manySmallPacks() {
    let bytes = [Int64](repeating: 16 * Self.kib, count: 30)
    var live = bytes
    for index in 10..<18 { live[index] = 12 * Self.kib }
    #expect(plan(bytes, live) == [10..<18])
    #expect(SyncSizes().needCompaction(packs(bytes), bytes: live.reduce(0, +)))
  }

  @Test("a large pack between them is not merged") func largePackBetween() {
    var bytes = [Int64](repeating: 16 * Self.kib, count: 30)
    bytes[12] = 700 * Self.kib
    var live = bytes
    for index in 9..<17 { live[index] = 1 * Self.kib }
    live[12] = bytes[12]
    #expect(plan(bytes, live) == [13..<21])
  }

  @Test("when more than a third is dead, the pack with most dead bytes is rewritten with its neighbours")
  func whereMoreThan() {
    let bytes = [Int64](repeating: 1000 * Self.kib, count: 10)
    var live = bytes
    for index in 0..<10 { live[index] = 600 * Self.kib }
    (live[4], live[5], live[6], live[7]) = (100 * Self.kib, 400 * Self.kib, 400 * Self.kib, 900 * Self.kib)
    #expect(plan(bytes, live) == [4..<7])
    live = bytes
    live[4] = 0
    #expect(plan(bytes, live) == [])
  }

  @Test("packs that may have dropped tombstones are rewritten after those before them") func packsInOrder() {
    let bytes = [Int64](repeating: 1000 * Self.kib, count: 6)
    let packs = packs(bytes)
    func plan(_ counts: [Int64], required: [Int], horizon: Int64) -> [Range<Int>] {
      let live = counts.map { SyncLiveEntries(count: $0, bytes: $0 * 500 * Self.kib) }
      return SyncCompaction.plan(
        packs, live: live, bytes: 6000 * Self.kib, required: required, horizon: horizon, SyncSizes()
      ).rewrites
    }
    #expect(plan([2, 1, 2, 0, 2, 1], required: [3], horizon: 0) == [3..<4])
    #expect(plan([2, 1, 2, 0, 2, 1], required: [3], horizon: 40) == [1..<2])
    #expect(plan([2, 1, 2, 0, 2, 1], required: [1, 3], horizon: 40) == [1..<2, 3..<4])
    #expect(plan([2, 2, 2, 0, 2, 1], required: [3], horizon: 40) == [3..<4])
    #expect(plan([2, 1, 2, 0, 2, 1], required: [5], horizon: 40) == [5..<6])
    #expect(plan([2, 1, 2, 0, 2, 1], required: [4], horizon: 40) == [4..<5])
  }

  @Test("broken packs are rewritten in any case") func brokenPacksRewritten() {
    let bytes = [Int64](repeating: 1000 * Self.kib, count: 10)
    #expect(plan(bytes, bytes, required: [2, 7]) == [2..<3, 7..<8])
  }

  /// Commits of any size never let packs or dead bytes grow without a limit.
  @Test("packs and dead bytes stay bounded", arguments: [(100, 1), (100, 40), (1000, 7), (1000, 300)])
  func packsDeadBytes(_ count: Int, _ changes: Int) {
    // One unit is a document; a pack is the list of documents that it had when it was written.
    var sizes = SyncSizes()
    (sizes.smallestPack, sizes.largestPack, sizes.packShare, sizes.deadBytes) = (16, 256, 64, 32)
    var (packs, owner, next) = ([(pack: SyncPack, ids: [Int])](), [Int: Int64](), Int64(1))
    func live(_ entry: (pack: SyncPack, ids: [Int])) -> Int64 {
      Int64(entry.ids.count { (owner[$0] ?? 0) >= entry.pack.from && (owner[$0] ?? 0) <= entry.pack.to })
    }
    for commit in 0..<400 {
      let ids = (0..<(commit == 0 ? count : changes)).map {
        commit == 0 ? $0 : ($0 * 37 + commit * 101) % count
      }
      for id in ids { owner[id] = next }
      packs.append((SyncValues.pack("1", next, next, bytes: Int64(ids.count)), ids))
      next += 1
      let plan = SyncCompaction.plan(
        packs.map(\.pack), live: packs.map { SyncLiveEntries(count: 0, bytes: live($0)) },
        bytes: Int64(owner.count),
        sizes)
      for range in plan.rewrites.reversed() {
        let (from, to) = (packs[range.lowerBound].pack.from, packs[range.upperBound - 1].pack.to)
        let ids = owner.filter { $0.value >= from && $0.value <= to }.map(\.key)
        let pack = SyncValues.pack("1", from, to, bytes: Int64(ids.count))
        packs.replaceSubrange(range, with: ids.isEmpty ? [] : [(pack, ids)])
      }
      #expect(packs.reduce(0) { $0 + $1.pack.bytes } <= Int64(count) * 2 + 32 + Int64(count))
      #expect(packs.count <= 24 + 3 * 64 + 8)
    }
  }
}
