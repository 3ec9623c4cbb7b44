import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

@Suite("Offline regions across the parts of a store")
struct RegionAcrossTests {
  private func complete(
    _ store: CatalogueFixture, _ source: RegionSource, places: Range<Int> = 0..<2
  ) throws -> Region {
    try City.fill(source, places: places.upperBound, entities: 2)
    let region = try store.catalogue.regions.create("trip", City.region(places))
    try region.download(from: source)
    return region
  }

  @Test("A user who signs out leaves the regions of the device")
  func signOut() throws {
    let store = try CatalogueFixture(onDisk: true)
    let region = try complete(store, RegionSource())
    try store.satchel.records("notes").put("a", ["title": "mine"])
    try store.satchel.signOut(unsent: .discard)
    #expect(try region.state == .complete)
    #expect(try region.estimate().assets == 4)
    try store.expectSound()
  }

  @Test("A clock that was in 2100 for a while leaves a region that is whole and goes on")
  func clock() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = RegionSource()
    let now = store.clock.now
    store.clock.set(4_102_444_800_000)
    let region = try complete(store, source)
    store.clock.set(now)
    try store.reopen()
    try store.catalogue.prune()
    let after = try #require(try store.catalogue.regions["trip"])
    #expect(try after.estimate().entities == 4)
    #expect(try after.summary().createdAt <= now)
    try after.update(from: source)
    #expect(try after.state == .complete)
    #expect(region.name == after.name)
    try store.expectSound()
  }

  @Test("An asset that a record refers to stays when the region is deleted")
  func sharedAsset() throws {
    let store = try CatalogueFixture(onDisk: true)
    let region = try complete(store, RegionSource())
    let asset = try store.satchel.assets.put(City.picture(0, 0))
    try store.satchel.records("notes").put("a", ["picture": asset.json])
    let deletion = try region.delete()
    #expect(deletion.assets == 3)
    #expect(try store.satchel.assets.bytes(of: asset) == City.picture(0, 0))
    try store.expectSound()
  }

  @Test("What another delivery has nested in an entity of a region belongs to the region")
  func nested() throws {
    let store = try CatalogueFixture(onDisk: true)
    let here = try place("CN", "Shanghai", "Shanghai")
    try store.persist("food", #"{"a":{"name":"A",\#(tag("food:a", "country"))}}"#, at: here)
    try store.catalogue.regions.create("trip", RegionDefinition(areas: [.init(here)]))
    // Another place of the country delivers the entity again, with one in it.
    let there = try place("CN", "Beijing", "Beijing")
    let inner = #"{"name":"B",\#(tag("food:b", "country"))}"#
    try store.persist(
      "more", #"{"a":{"name":"A","inner":\#(inner),\#(tag("food:a", "country"))}}"#, at: there)
    let before = try store.shown("food", at: here)
    #expect(before.contains(#""name":"B""#))
    var options = PruneOptions()
    (options.unreferenced, options.contextsUnusedFor, options.maxBytes) = (true, 0, 1)
    store.clock.advance(hour)
    try store.catalogue.prune(options)
    try store.catalogue.prune(options)
    #expect(try store.shown("food", at: here) == before)
    #expect(try store.catalogue.contexts().map(\.location) == [here])
    try store.expectSound()
  }

  @Test("A region that is deleted while it downloads ends the download")
  func deletedMeanwhile() throws {
    let store = try CatalogueFixture(onDisk: true)
    let other = try store.another()
    defer { try? other.close() }
    let count = Mutex(0)
    let source = RegionSource {
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 4 { _ = try other.catalogue.regions["trip"]?.delete() }
    }
    do {
      _ = try complete(store, source, places: 0..<3)
      Issue.record("no error")
    } catch let error as SatchelError {
      #expect(error.code == .notFound)
      #expect(error.message.contains("trip"))
    }
    #expect(try store.catalogue.regions.list().isEmpty)
    try store.expectSound()
  }

  @Test("Pictures of a region without assets are evicted")
  func withoutAssets() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = RegionSource()
    let region = try complete(store, source)
    var definition = try City.region(0..<2)
    definition.assets = false
    try region.define(definition)
    store.clock.advance(2 * hour)
    #expect(try store.satchel.assets.prune(maxBytes: 0).removed == 4)
    #expect(try region.state == .complete)
    try region.define(City.region(0..<2))
    #expect(try region.state == .partial)
    #expect(try region.download(from: source).assets == 4)
  }

  @Test(
    "A region whose definition is damaged is named by the check, and lost by a recovery, with its content kept"
  )
  func damagedDefinition() throws {
    let store = try CatalogueFixture(onDisk: true)
    _ = try complete(store, RegionSource())
    try store.catalogue.database.write {
      try $0.connection.execute(#"UPDATE region SET definition = '{"locations":[]}'"#)
    }
    #expect(try store.satchel.check().map(\.code) == ["region_definition"])
    #expect(throws: SatchelError.self) { try store.catalogue.regions.list() }
    try store.satchel.close()
    let directory = try TemporaryDirectory()
    _ = try Store.recover(store.path, into: directory.path + "/recovered")
    let recovered = try Store(path: directory.path + "/recovered")
    defer { try? recovered.close() }
    #expect(try recovered.check().isEmpty)
    #expect(try recovered.catalogue.regions.list().isEmpty)
    #expect(try recovered.catalogue.contexts().count == 2)
  }

  @Test(
    "Content that a recovery finds lost is missing, and a download of its region gets it again",
    arguments: [
      "DELETE FROM entity WHERE id = (SELECT min(id) FROM entity)",
      "DELETE FROM entity WHERE id = (SELECT max(id) FROM entity)", "DELETE FROM entity", "DELETE FROM place",
      "DELETE FROM entity_content WHERE entity = (SELECT min(entity) FROM entity_content)",
      "DELETE FROM context WHERE id = (SELECT max(id) FROM context)", "DELETE FROM section_content",
      "DELETE FROM section WHERE id = (SELECT max(id) FROM section)", "DELETE FROM context_at",
      "DELETE FROM place WHERE id = (SELECT max(id) FROM place)",
    ])
  func lostContent(_ damage: String) throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = RegionSource()
    _ = try complete(store, source)
    let places = try (0..<2).map { try City.location($0) }
    let before = try places.map { try store.shown("food", at: $0) }
    try store.catalogue.database.write { try $0.connection.execute(damage) }
    #expect(try !store.satchel.check().isEmpty)
    try store.satchel.close()
    let directory = try TemporaryDirectory()
    _ = try Store.recover(store.path, into: directory.path + "/recovered")
    let recovered = try Store(path: directory.path + "/recovered")
    defer { try? recovered.close() }
    #expect(try recovered.check().map(\.message) == [])
    // What is new does not get the rows of what was lost.
    let other = CatalogueFixture.section("other", #"{"x":{"v":1,\#(tag("other:x", "country"))}}"#)
    _ = try Array(other.utf8).withUnsafeBytes { try recovered.catalogue.persist($0, at: City.location(5)) }
    let region = try #require(try recovered.catalogue.regions["trip"])
    // The lists of the contexts are derived, and made again.
    #expect(try region.state == (damage.contains("context_at") ? .stale : .partial))
    #expect(try region.download(from: source).state == .complete)
    for (place, content) in zip(places, before) {
      #expect(try recovered.catalogue.load("food", at: place, inherit: false)?.content.text == content)
    }
    #expect(try recovered.check().map(\.message) == [])
  }

  @Test("Two handles that download a region at once ask for each place once")
  func twoDownloads() throws {
    let store = try CatalogueFixture(onDisk: true)
    let other = try store.another()
    defer { try? other.close() }
    let source = try City.source(places: 6, entities: 1)
    let definition = try City.region(0..<6)
    let stores = [store.satchel, other]
    let states = Mutex<[RegionState?]>([])
    onThreads(2) { number in
      let region = try? stores[number].catalogue.regions.create("trip", definition)
      let report = try? region?.download(from: source)
      states.withLock { $0.append(report?.state) }
    }
    #expect(states.withLock { $0 } == [.complete, .complete])
    #expect(source.asked.count == 6)
    try store.expectSound()
  }
}
