import Testing

@testable import SatchelSync

@Suite("Rules of assets in a sync log") struct AssetRulesTests {
  private typealias Known = AssetRules.Known
  private let large: Int64 = 17 << 20

  private func way(adopts: Bool = false, _ change: (inout Known) -> Void) -> AssetRules.Way? {
    var known = Known()
    change(&known)
    known.hasEntry = known.hasEntry || known.entry != nil
    return AssetRules.way(known, adopts: adopts, SyncSizes())
  }

  @Test("rule 2: a record goes with what the log has an object of") func present() {
    #expect(way { $0.entry = AssetValues.entry() } == .present)
    #expect(way { ($0.entry, $0.size) = (AssetValues.entry(), 1000) } == .present)
  }

  @Test("rule 2: with a suspect object only where an entry refers to it already") func suspect() {
    #expect(way { $0.entry = AssetValues.entry(suspect: true) } == nil)
    #expect(way { ($0.entry, $0.isReferred) = (AssetValues.entry(suspect: true), true) } == .present)
    #expect(way { ($0.entry, $0.size) = (AssetValues.entry(suspect: true), 1000) } == .upload)
  }

  @Test("rule 2: with what is here and can be uploaded; else it waits") func here() {
    #expect(way { _ in } == nil)
    #expect(way { $0.size = 0 } == .upload)
    #expect(way { $0.size = 16 << 20 } == .upload)
    #expect(way { ($0.entry, $0.size) = (AssetValues.entry(nil), 1000) } == .upload)
    #expect(way { $0.entry = AssetValues.entry(nil) } == nil)
  }

  @Test("a large content is reserved first, and uploaded to the first reservation, of any device")
  func reserved() {
    #expect(way { $0.size = large } == .reserve)
    var entry = SyncAssetEntry(size: large)
    for digit in "bc" { entry.reserve(AssetValues.reservation(digit)) }
    #expect(way { ($0.entry, $0.size) = (entry, large) } == .complete(AssetValues.reservation("b")))
    #expect(way { $0.entry = entry } == nil)
  }

  @Test(
    "an object of a lost log is adopted only while the new log may have replaced it, and has no entry of it")
  func adopt() {
    let former = (size: Int64(1000), location: AssetValues.location("f"))
    let adopted = AssetRules.Way.adopt(size: 1000, former.location)
    #expect(way(adopts: true) { $0.former = former } == adopted)
    #expect(way(adopts: false) { $0.former = former } == nil)
    #expect(way(adopts: true) { ($0.former, $0.hasEntry) = (former, true) } == nil)
    #expect(way(adopts: true) { ($0.former, $0.size) = (former, 1000) } == .upload)
    #expect(way(adopts: true) { ($0.former, $0.entry) = (former, AssetValues.entry()) } == .present)
  }

  @Test("rule 4: an entry is marked when nothing refers to it, and the mark goes with a reference")
  func mark() {
    let (used, unused) = (AssetValues.entry(), AssetValues.entry(unused: 9))
    func collected(_ entry: SyncAssetEntry, _ isReferred: Bool, horizon: Int64 = 0) -> SyncAssetEntry? {
      AssetRules.collected(entry, isReferred: isReferred, number: 9, horizon: horizon)
    }
    #expect(collected(used, true) == used)
    #expect(collected(used, false) == unused)
    #expect(collected(unused, false) == unused)
    #expect(collected(unused, true) == used)
    // Also below the horizon.
    #expect(collected(unused, true, horizon: 100) == used)
    #expect(collected(used, false, horizon: 100) == unused)
  }

  @Test(
    "rule 5: an entry is dropped when the horizon has passed its mark",
    arguments: [(8, false), (9, false), (10, true)])
  func drop(horizon: Int64, isDropped: Bool) {
    let entry = AssetValues.entry(unused: 9)
    #expect(
      (AssetRules.collected(entry, isReferred: false, number: 20, horizon: horizon) == nil) == isDropped)
    // What is only reserved is dropped as well.
    var reserved = AssetValues.entry(nil, unused: 9)
    reserved.reserve(AssetValues.reservation("b"))
    #expect(
      (AssetRules.collected(reserved, isReferred: false, number: 20, horizon: horizon) == nil) == isDropped)
  }

  @Test("a purge drops at once what nothing refers to") func purge() {
    for entry in [AssetValues.entry(), AssetValues.entry(unused: 9)] {
      #expect(AssetRules.collected(entry, isReferred: false, number: 20, horizon: nil) == nil)
      #expect(
        AssetRules.collected(entry, isReferred: true, number: 20, horizon: nil) == AssetValues.entry())
    }
  }

  @Test("rule 6: an object of the log is deleted when its fence is below that of the head") func fence()
    throws
  {
    var head = try SyncValues.head()
    (head.fence, head.adopts) = (7, true)
    #expect(AssetRules.isGarbage(AssetValues.object(fence: 6), of: head))
    #expect(!AssetRules.isGarbage(AssetValues.object(fence: 7), of: head))
    #expect(!AssetRules.isGarbage(AssetValues.object(fence: 8), of: head))
  }

  @Test("rule 6: objects of other logs are kept while they may be adopted", arguments: [true, false])
  func otherLog(adopts: Bool) throws {
    var head = try SyncValues.head()
    (head.fence, head.adopts) = (7, adopts)
    for fence in [1, 9] as [Int64] {
      #expect(
        AssetRules.isGarbage(AssetValues.object(log: "fedcba9876543210", fence: fence), of: head) == !adopts)
    }
  }

  @Test("rule 3: an upload is named by a head of its own log and fence only") func ownGeneration() {
    let object = AssetValues.object(fence: 5)
    #expect(AssetRules.isUsable(object, log: AssetValues.log, fence: 5))
    #expect(!AssetRules.isUsable(object, log: AssetValues.log, fence: 6))
    #expect(!AssetRules.isUsable(object, log: "fedcba9876543210", fence: 5))
  }

  @Test("rule 7: what is suspect or absent, and needed, is uploaded again by a device that has it")
  func repair() {
    #expect(AssetRules.needsRepair(AssetValues.entry(suspect: true), isReferred: true))
    #expect(AssetRules.needsRepair(AssetValues.entry(nil), isReferred: true))
    #expect(AssetRules.needsRepair(nil, isReferred: true))
    #expect(!AssetRules.needsRepair(AssetValues.entry(), isReferred: true))
    #expect(!AssetRules.needsRepair(AssetValues.entry(suspect: true), isReferred: false))
  }

  @Test("an object of which half is dead is replaced") func bundles() {
    #expect(!AssetRules.isHalfDead(of: 100, living: 100))
    #expect(!AssetRules.isHalfDead(of: 100, living: 51))
    #expect(AssetRules.isHalfDead(of: 100, living: 50))
    #expect(AssetRules.isHalfDead(of: 100, living: 0))
  }
}
