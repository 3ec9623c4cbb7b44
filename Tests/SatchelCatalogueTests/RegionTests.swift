import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Offline regions")
struct RegionTests {
  @Test("A region is created, listed, defined again and deleted")
  func life() throws {
    let store = try CatalogueFixture()
    let regions = store.catalogue.regions
    #expect(try regions.list().isEmpty)
    #expect(try regions["trip"] == nil)
    let region = try regions.create("trip", City.region(0..<2))
    #expect(try region.state == .new)
    #expect(try regions.create("trip", City.region(0..<2)).name == "trip")
    #expect(code { try regions.create("trip", City.region(0..<3)) } == .constraint)
    try region.define(City.region(0..<3))
    let summary = try region.summary()
    #expect(summary.definition == (try City.region(0..<3)))
    #expect(try regions.list().map(\.name) == ["trip"])
    #expect(summary.size.requestsLeft == 3)
    _ = try region.delete()
    #expect(try regions.list().isEmpty)
    #expect(code { _ = try region.summary() } == .notFound)
    #expect(code { _ = try region.delete() } == .notFound)
    try store.expectSound()
  }

  @Test(
    "An invalid definition is refused with the place of the mistake",
    arguments: [
      (#"{"locations":[]}"#, "/locations"), (#"{"locations":1}"#, "/locations"), (#"{}"#, "/locations"),
      (#"{"locations":[{"latitude":91,"longitude":0}]}"#, "/locations/0/latitude"),
      (
        #"{"locations":[{"country_code":"cn"},{"location":{"country_code":"cn"},"within":5}]}"#,
        "/locations/1/within"
      ),
      (#"{"locations":[{"location":{"latitude":1,"longitude":1},"within":-1}]}"#, "/locations/0/within"),
      (#"{"locations":[{"location":{"country_code":"cn"},"level":"locality"}]}"#, "/locations/0/level"),
      (#"{"locations":[{"country_code":"cn"}],"sections":[]}"#, "/sections"),
      (#"{"locations":[{"country_code":"cn"}],"sections":[""]}"#, "/sections"),
      (#"{"locations":[{"country_code":"cn"}],"max_bytes":-1}"#, "/max_bytes"),
      (#"{"locations":[{"country_code":"cn"}],"max_asset_bytes":0}"#, "/max_asset_bytes"),
      (#"{"locations":[{"country_code":"cn"}],"assets":1}"#, "/assets"),
      (#"{"locations":[{"country_code":"cn"}],"section":["a"]}"#, "/section"),
    ])
  func refusals(_ text: String, _ pointer: String) throws {
    do {
      _ = try RegionDefinition(json: JSONValue(parsing: text))
      Issue.record("accepted")
    } catch let error as JSONError {
      #expect(error.pointer == pointer)
    }
  }

  @Test("A definition is the same after its JSON form")
  func roundTrip() throws {
    var definition = RegionDefinition(
      areas: [.init(try City.location(0), within: 2000), .init(try City.location(1), level: .locality)],
      sections: ["food", "sights"], assets: false, maxBytes: 5, maxAssetSize: 7)
    #expect(try RegionDefinition(json: definition.json) == definition)
    definition.sections = nil
    #expect(try RegionDefinition(json: definition.json) == definition)
  }

  @Test("Only the named sections belong to a region")
  func sections() throws {
    let store = try CatalogueFixture()
    let source = RegionSource()
    let here = try City.location(0)
    source.set(here, "[\(City.section(0, entities: 1)),\(City.section(0, entities: 2, name: "sights"))]")
    var definition = try City.region(0..<1)
    (definition.sections, definition.assets) = (["sights"], false)
    let region = try store.catalogue.regions.create("trip", definition)
    #expect(try region.download(from: source).state == .complete)
    #expect(source.asked.map(\.section) == ["sights"])
    #expect(source.fetched.isEmpty)
    try store.persist("food", #"{"a":1}"#, at: here)
    var options = PruneOptions()
    options.maxBytes = 1
    try store.catalogue.prune(options)
    #expect(try store.catalogue.sections(at: here, inherit: false).map(\.section) == ["sights"])
    try store.expectSound()
  }

  @Test("No prune removes anything of a region: by bytes, age, expiry, section, scope and location")
  func prunes() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 3, hours: "1")
    let region = try store.catalogue.regions.create("trip", City.region(0..<2))
    try region.download(from: source)
    try store.catalogue.refresh(City.location(2), from: source)
    store.clock.advance(10 * 24 * hour)
    #expect(try region.state == .stale)
    let size = try region.estimate()
    #expect(size.expired == 6)
    let here = try City.location(0)
    var options: [PruneOptions] = [PruneOptions()]
    func add(_ change: (inout PruneOptions) -> Void) {
      var next = PruneOptions()
      change(&next)
      options.append(next)
    }
    add { ($0.expired, $0.unreferenced) = (true, true) }
    add { ($0.expired, $0.section) = (false, "food") }
    add { ($0.expired, $0.scope) = (false, .sublocality) }
    add { ($0.expired, $0.location) = (false, here) }
    add { ($0.expired, $0.location, $0.scope) = (false, here, .sublocality) }
    add { ($0.expired, $0.contextsUnusedFor) = (false, 0) }
    add { $0.maxBytes = 1 }
    for option in options { try store.catalogue.prune(option) }
    let report = try store.satchel.assets.prune(maxBytes: 1)
    #expect(report.removed <= 1)
    #expect(try region.estimate() == size)
    #expect(try store.catalogue.contexts().count == 2)
    // Readable after expiry, and marked.
    let loaded = try #require(try store.catalogue.load("food", at: here, inherit: false))
    #expect(loaded.expired.count == 3)
    #expect(loaded.content["items"]?.arrayValue?.count == 3)
    try store.expectSound()
  }

  @Test("Deleting one of two regions frees exactly what the other does not need")
  func overlap() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 3)
    let west = try store.catalogue.regions.create("west", City.region(0..<2))
    let east = try store.catalogue.regions.create("east", City.region(1..<3))
    try west.download(from: source)
    try east.download(from: source)
    #expect(source.fetched.count == 9)
    let (before, kept) = (try west.estimate(), try east.estimate())
    #expect(before.assets == 6)
    let deletion = try west.delete()
    #expect(deletion.assets == 3 && deletion.entities == 3 && deletion.sections == 1)
    #expect(deletion.assetBytes == (0..<3).reduce(0) { $0 + Int64(City.picture(0, $1).count) })
    #expect(deletion.bytes > 0)
    #expect(try east.estimate() == kept)
    #expect(try east.state == .complete)
    let rest = try east.delete()
    #expect(rest.assets == 6)
    #expect(try store.catalogue.contexts().isEmpty)
    #expect(try store.satchel.assets.list().assets.isEmpty)
    try store.expectSound()
  }

  @Test("What the active location shows stays when its region is deleted")
  func active() throws {
    let store = try CatalogueFixture()
    let source = try City.source(places: 2, entities: 1)
    let region = try store.catalogue.regions.create("trip", City.region(0..<2))
    try region.download(from: source)
    try store.catalogue.setActiveLocation(City.location(1))
    #expect(try region.delete().sections == 1)
    #expect(try store.catalogue.contexts().map(\.location) == [City.location(1)])
    try store.expectSound()
  }

  @Test("Delivered locations within a radius, or below a level, belong to a region")
  func surroundings() throws {
    let store = try CatalogueFixture()
    let source = try City.source(places: 4, entities: 1)
    for number in 0..<4 { try store.catalogue.refresh(City.location(number), from: source) }
    // 0.01 degrees of latitude are 1.1 km.
    let near = try store.catalogue.regions.create(
      "near", RegionDefinition(areas: [.init(try City.location(0), within: 2500)]))
    #expect(try near.estimate().sections == 3)
    let city = try store.catalogue.regions.create(
      "city", RegionDefinition(areas: [.init(try City.location(0), level: .locality)]))
    #expect(try city.estimate().sections == 4)
    let report = try city.download(from: source)
    #expect(report.state == .complete && report.assets == 4)
    #expect(try near.delete().sections == 0)
    try store.expectSound()
  }

  @Test("A location of a region that is deleted makes it partial, and a download gets it again")
  func explicitDeletion() throws {
    let store = try CatalogueFixture()
    let source = try City.source(places: 2, entities: 2)
    let region = try store.catalogue.regions.create("trip", City.region(0..<2))
    try region.download(from: source)
    try store.catalogue.deleteContext(City.location(0))
    #expect(try region.state == .partial)
    try store.catalogue.deleteEntity("food:1_0")
    #expect(try region.estimate().missing == 1)
    #expect(try region.download(from: source).state == .complete)
    try store.expectSound()
  }

  @Test("A store that is opened read-only lists its regions, and downloads nothing")
  func readOnly() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 1, entities: 1)
    try store.catalogue.regions.create("trip", City.region(0..<1)).download(from: source)
    var options = StoreOptions()
    options.isReadOnly = true
    options.clock = store.clock.clock
    let reader = try Store(path: store.path, options: options)
    defer { try? reader.close() }
    let region = try #require(try reader.catalogue.regions["trip"])
    #expect(try region.state == .complete)
    #expect(code { try region.download(from: source) } == .readOnly)
    #expect(code { _ = try region.delete() } == .readOnly)
    #expect(code { try reader.catalogue.regions.create("other", City.region(0..<1)) } == .readOnly)
  }

  @Test("Nothing is downloaded or deleted in a transaction")
  func inBatch() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = RegionSource()
    let region = try store.catalogue.regions.create("trip", City.region(0..<1))
    try store.catalogue.database.begin()
    #expect(code { try region.download(from: source) } == .invalid)
    #expect(code { _ = try region.delete() } == .invalid)
    try store.catalogue.database.rollback()
  }

  @Test("A backup that is restored has its regions")
  func backups() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 2, entities: 2)
    try store.catalogue.regions.create("trip", City.region(0..<2)).download(from: source)
    let directory = try TemporaryDirectory()
    try store.satchel.backup(to: directory.path + "/backup")
    try Store.restore(directory.path + "/backup", to: directory.path + "/restored")
    let restored = try Store(path: directory.path + "/restored")
    defer { try? restored.close() }
    #expect(try restored.catalogue.regions["trip"]?.estimate().assets == 4)
    #expect(try restored.check().isEmpty)
    try store.satchel.close()
    let report = try Store.recover(store.path, into: directory.path + "/recovered")
    #expect(report.findings.isEmpty)
    let recovered = try Store(path: directory.path + "/recovered")
    defer { try? recovered.close() }
    #expect(try recovered.catalogue.regions["trip"]?.estimate().assets == 4)
  }
}
