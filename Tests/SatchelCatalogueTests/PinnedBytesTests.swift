import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Bytes that offline regions keep from a prune")
struct PinnedBytesTests {
  private func prune(_ store: CatalogueFixture, _ set: (inout PruneOptions) -> Void) throws -> Int64 {
    var options = PruneOptions()
    options.expired = false
    set(&options)
    return try store.catalogue.prune(options).pinnedBytes
  }

  @Test("a prune counts the candidates that regions have, and nothing else")
  func candidates() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 3, hours: "1")
    let region = try store.catalogue.regions.create("trip", City.region(0..<2))
    try region.download(from: source)
    try store.catalogue.refresh(City.location(2), from: source)
    let bytes = try region.estimate().bytes
    let here = try City.location(0)
    #expect(try prune(store) { $0.expired = true } == 0)
    #expect(try prune(store) { $0.location = here } == bytes / 2)
    #expect(try prune(store) { $0.unreferenced = true } == 0)
    #expect(try prune(store) { $0.section = "sights" } == 0)
    store.clock.advance(2 * hour)
    let content = try prune(store) { ($0.expired, $0.location) = (true, here) }
    #expect(content > 0 && content < bytes / 2)
    #expect(try prune(store) { ($0.location, $0.scope) = (here, .sublocality) } == content)
    #expect(try prune(store) { ($0.location, $0.scope) = (here, .country) } == 0)
    #expect(try prune(store) { $0.maxBytes = bytes * 2 } == 0)
    #expect(try prune(store) { $0.maxBytes = 0 } == bytes)
    #expect(try prune(store) { ($0.expired, $0.maxBytes, $0.contextsUnusedFor) = (true, 0, 0) } == bytes)
    // A call that names what it deletes deletes it.
    #expect(try store.catalogue.deleteContext(here).pinnedBytes == 0)
    #expect(try prune(store) { $0.maxBytes = 0 } == bytes / 2)
    try store.expectSound()
  }

  @Test("an entity that a section shows which was not selected would have stayed anyway")
  func shared() throws {
    let store = try CatalogueFixture(onDisk: true)
    let content = #"{"a":{"name":"A",\#(tag("food:a", "country"))}}"#
    let (here, there) = (try City.location(0), try City.location(1))
    try store.persist("food", content, at: here)
    try store.persist("food", content, at: there)
    let region = try store.catalogue.regions.create("trip", City.region(0..<1))
    let bytes = try region.estimate().bytes
    let template = try prune(store) { $0.location = here }
    #expect(template > 0 && template < bytes)
    #expect(try prune(store) { $0.section = "food" } == bytes)
    #expect(try store.catalogue.contexts().map(\.location) == [here])
    try store.expectSound()
  }

  @Test("a prune of assets counts the bytes that regions keep from its limit")
  func assets() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 2, entities: 2)
    let region = try store.catalogue.regions.create("trip", City.region(0..<2))
    try region.download(from: source)
    store.clock.advance(2 * hour)
    let bytes = try region.estimate().assetBytes
    #expect(try store.satchel.assets.prune().pinnedBytes == 0)
    #expect(try store.satchel.assets.prune(maxBytes: bytes).pinnedBytes == 0)
    let report = try store.satchel.assets.prune(maxBytes: 0)
    #expect(report.pinnedBytes == bytes && report.overBudget == bytes && report.removed == 0)
  }
}
