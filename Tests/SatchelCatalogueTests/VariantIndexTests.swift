import Foundation
import Satchel
import Testing

@testable import SatchelCatalogue

@Suite("The deferred index")
struct VariantIndexTests {
  private let here: Location

  init() throws { here = try place("fr", "ara", "Lyon") }

  private func content(_ ids: some Sequence<Int>, version: Int = 0) -> String {
    "[" + ids.map { #"{"v":\#(version),\#(tag("s:\($0)", "country"))}"# }.joined(separator: ",") + "]"
  }

  private func expectOneCopyEach(
    _ fixture: CatalogueFixture, count: Int, _ place: SourceLocation = #_sourceLocation
  )
    throws
  {
    let variants = try fixture.variants()
    #expect(variants.count == count, sourceLocation: place)
    #expect(Set(variants).count == variants.count, sourceLocation: place)
    try fixture.expectSound(place)
  }

  private func indexed(_ fixture: CatalogueFixture) throws -> Int64 {
    try fixture.catalogue.database.read {
      try $0.number("SELECT ifnull(sum(length(entries)), 0) / 16 FROM entity_index")
    }
  }

  @Test("after a crash with a partly merged index, nothing is stored twice")
  func crash() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    for part in 0..<6 { try fixture.persist("s\(part)", content(part * 2000..<(part + 1) * 2000), at: here) }
    #expect(try indexed(fixture) > 0 && indexed(fixture) < 12_000)
    let copy = try fixture.crashedCopy()
    for part in 0..<6 {
      let receipt = try copy.persist("s\(part)", content(part * 2000..<(part + 1) * 2000), at: here)
      #expect(receipt.saved == 0 && receipt.reused == 2000)
    }
    try expectOneCopyEach(copy, count: 12_000)
    try copy.reopen()
    #expect(try indexed(copy) == 12_000)
    #expect(try copy.persist("s", content(0..<12_000, version: 1), at: here).updated == 12_000)
    try expectOneCopyEach(copy, count: 12_000)
  }

  @Test("two handles that persist the same entities in turn keep one copy of each")
  func twoHandles() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let other = try fixture.another()
    for round in 0..<12 {
      let section = CatalogueFixture.section(
        "s\(round)", content(round * 500..<round * 500 + 1500, version: round))
      let (first, second) = round % 2 == 0 ? (fixture.satchel, other) : (other, fixture.satchel)
      try Array(section.utf8).withUnsafeBytes { _ = try first.catalogue.persist($0, at: here) }
      let receipt = try Array(section.utf8).withUnsafeBytes { try second.catalogue.persist($0, at: here) }
      #expect(receipt.reused == 1500 && receipt.saved == 0)
      if round % 5 == 4 { try second.catalogue.prune() }
    }
    try expectOneCopyEach(fixture, count: 11 * 500 + 1500)
    try other.close()
    try expectOneCopyEach(fixture, count: 11 * 500 + 1500)
  }

  @Test("rows of a rolled-back transaction are not found until they are inserted later")
  func rollback() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let other = try fixture.another()
    try fixture.persist("s", content(0..<10), at: here)
    let bad = CatalogueFixture.section("bad", "1", config: #"{"operation":"fly"}"#, action: "edit")
    for round in 1...5 {
      let good = CatalogueFixture.section("s\(round)", content(0..<round * 10))
      let text = #"{"location":{"country_code":"fr"},"sections":[\#(good),\#(bad)]}"#
      #expect(throws: SatchelError.self) {
        try Array(text.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0) }
      }
      // Other entities have these rows now.
      let section = CatalogueFixture.section("o\(round)", content(1000 * round..<1000 * round + 15))
      try Array(section.utf8).withUnsafeBytes { _ = try other.catalogue.persist($0, at: here) }
      #expect(try fixture.persist("s", content(0..<round * 10), at: here).saved == (round == 1 ? 0 : 10))
      try expectOneCopyEach(fixture, count: round * 10 + round * 15)
    }
  }

  @Test("a large transaction that fails after merging leaves the index unchanged")
  func rollbackOfMerge() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", content(0..<50), at: here)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try fixture.catalogue.database.write { _ in
        try fixture.persist("big", content(0..<9000), at: here)
        throw Stop()
      }
    }
    #expect(try indexed(fixture) == 0)
    #expect(try fixture.persist("s", content(0..<50), at: here).reused == 50)
    #expect(try fixture.persist("big", content(0..<9000), at: here).saved == 8950)
    try expectOneCopyEach(fixture, count: 9000)
  }

  @Test("rows of pruned entities are not reused, so that another handle's cache stays valid")
  func newestPruned() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let other = try fixture.another()
    try fixture.persist("s", content(0..<100), at: here)
    let seen = CatalogueFixture.section("seen", content(0..<100))
    try Array(seen.utf8).withUnsafeBytes { _ = try other.catalogue.persist($0, at: here) }
    var options = PruneOptions()
    options.expired = false
    options.unreferenced = true
    try fixture.persist("s", "[]", at: here)
    try fixture.persist("seen", "[]", at: here)
    #expect(try fixture.catalogue.prune(options).entities == 100)
    for (round, catalogue) in [other.catalogue, fixture.catalogue, other.catalogue].enumerated() {
      let section = CatalogueFixture.section("n", content(round * 40..<round * 40 + 60, version: round))
      let receipt = try Array(section.utf8).withUnsafeBytes { try catalogue.persist($0, at: here) }
      #expect(receipt.saved == (round == 0 ? 60 : 40) && receipt.updated == (round == 0 ? 0 : 20))
    }
    try expectOneCopyEach(fixture, count: 140)
  }

  @Test("a reader that started before another handle merged still finds every variant")
  func olderReader() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let other = try fixture.another()
    try fixture.persist("s", content(0..<5), at: here)
    let section = CatalogueFixture.section("o", content(5..<10))
    try Array(section.utf8).withUnsafeBytes { _ = try other.catalogue.persist($0, at: here) }
    try fixture.catalogue.database.read { old in
      let chain = try PlaceChain(here, in: old)
      // The first read of a transaction fixes its snapshot; then the other handle merges, and a later reader
      // of this handle sees it.
      try other.catalogue.prune()
      try fixture.catalogue.database.read { _ = try fixture.catalogue.index.view(of: $0) }
      let view = try fixture.catalogue.index.view(of: old)
      for id in 0..<10 {
        let variant = VariantIndex.Variant(entityID: "s:\(id)", scope: .country, place: chain[.country])
        #expect(try view.find(variant) != nil, "s:\(id)")
      }
    }
  }

  @Test("a view that was created before this handle merged still finds every variant")
  func olderView() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", content(0..<5), at: here)
    try fixture.catalogue.database.read { old in
      let chain = try PlaceChain(here, in: old)
      let view = try fixture.catalogue.index.view(of: old)
      let catalogue = fixture.catalogue
      let pruning = Thread { _ = try? catalogue.prune() }
      pruning.start()
      while !pruning.isFinished { usleep(1000) }
      for id in 0..<5 {
        let variant = VariantIndex.Variant(entityID: "s:\(id)", scope: .country, place: chain[.country])
        #expect(try view.find(variant) != nil, "s:\(id)")
      }
    }
  }
}
