import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Counts of offline regions, freshness and requests")
struct CatalogueStatisticsTests {
  @Test("an empty store and one without regions and requests have none")
  func nothing() throws {
    let store = try CatalogueFixture(onDisk: true)
    #expect(try store.satchel.statistics().catalogue == CatalogueStatistics())
    try store.persist("food", #"{"a":1}"#, at: City.location(0))
    var expected = CatalogueStatistics()
    expected.oldestFetchedAt = store.clock.now
    #expect(try store.satchel.statistics().catalogue == expected)
  }

  @Test("what regions keep counts once, whatever they share")
  func regions() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 2)
    let west = try store.catalogue.regions.create("west", City.region(0..<2))
    var definition = try City.region(1..<3)
    definition.assets = false
    let east = try store.catalogue.regions.create("east", definition)
    try west.download(from: source)
    try east.download(from: source)
    let found = try store.satchel.statistics().catalogue
    #expect(found.regions == 2 && found.pinnedSections == 3 && found.pinnedEntities == 6)
    // Two of the three places, which have the same size.
    #expect(found.pinnedBytes * 2 == (try west.estimate().bytes * 3))
    #expect(found.pinnedAssetBytes == (try west.estimate().assetBytes))
    try store.catalogue.deleteEntity("food:0_0")
    #expect(try store.satchel.statistics().catalogue.pinnedEntities == 5)
    try store.expectSound()
  }

  @Test("the age of the oldest content is counted from its last delivery or renewal")
  func oldest() throws {
    let store = try CatalogueFixture(onDisk: true)
    let first = store.clock.now
    for number in 0..<2 {
      try store.persist("food", #"{"a":\#(number)}"#, at: City.location(number))
      store.clock.advance(hour)
    }
    #expect(try store.satchel.statistics().catalogue.oldestFetchedAt == first)
    try store.catalogue.renew(City.location(0))
    #expect(try store.satchel.statistics().catalogue.oldestFetchedAt == first + hour)
  }

  @Test("a request that failed counts until the source answers")
  func requests() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource { request in
      if request.section == "sights" { throw SourceFailure("out of order", retryAfter: 120) }
      return .content(Array(#"{"section":"food","content":{"a":1}}"#.utf8), etag: "1", maxAge: 60)
    }
    let here = try City.location(0)
    try store.catalogue.refresh(here, sections: ["food", "sights"], from: source)
    let found = try store.satchel.statistics().catalogue
    #expect(found.requests == 2 && found.failedRequests == 1)
    let failed = try store.catalogue.failedRequests()
    #expect(failed.map(\.section) == ["sights"] && failed.map(\.message) == ["out of order"])
    #expect(failed.map(\.place) == ["31.2_121.4, cn_shanghai_shanghai_part_0"])
    #expect((failed[0].retryAt ?? 0) >= store.clock.now + 120_000)
    store.clock.advance(hour)
    source.set { _ in .content(Array(#"{"section":"sights","content":{"a":1}}"#.utf8), etag: "1", maxAge: 60)
    }
    try store.catalogue.refresh(here, sections: ["sights"], from: source)
    #expect(try store.satchel.statistics().catalogue.failedRequests == 0)
    #expect(try store.catalogue.failedRequests().isEmpty)
    try store.expectSound()
  }
}
