import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Files of offline regions")
struct RegionExportTests {
  private let directory: TemporaryDirectory
  private var file: String { directory.path + "/trip.region" }

  init() throws { directory = try TemporaryDirectory() }

  /// A store with a complete region "trip" of two places, one of whose pictures is large.
  private func origin(hours: String? = nil) throws -> (CatalogueFixture, RegionSource) {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 3, hours: hours)
    source.set(City.url(0, 0), City.picture(0, 0, size: 300_000))
    let region = try store.catalogue.regions.create("trip", City.region(0..<2))
    #expect(try region.download(from: source).state == .complete)
    return (store, source)
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [] }

  @Test("A region that is exported and imported is the same, in one file")
  func roundTrip() throws {
    let (store, _) = try origin()
    try store.catalogue.refresh(City.location(2), from: RegionSource())
    let report = try #require(try store.catalogue.regions["trip"]).export(to: file)
    #expect(report.sections == 2 && report.entities == 6 && report.assets == 6 && report.missingAssets == 0)
    #expect(names == ["trip.region"])
    store.clock.advance(hour)
    let other = try CatalogueFixture(onDisk: true, clock: store.clock)
    let region = try other.catalogue.regions.importRegion(file)
    #expect(names == ["trip.region"])
    #expect(try region.state == .complete)
    #expect(try region.estimate() == store.catalogue.regions["trip"]?.estimate())
    for number in 0..<2 {
      let here = try City.location(number)
      let (mine, theirs) = (
        try #require(try other.catalogue.load("food", at: here, storage: true)),
        try #require(try store.catalogue.load("food", at: here, storage: true))
      )
      #expect(mine.content == theirs.content)
      #expect(mine.header.etag == "e\(number)")
      #expect(mine.header.fetchedAt == theirs.header.fetchedAt)
      #expect(
        try other.catalogue.entity("food:\(number)_0")?.expiresAt
          == store.catalogue.entity("food:\(number)_0")?.expiresAt)
    }
    #expect(
      try other.satchel.assets.bytes(of: Asset(url: City.url(0, 0))) == City.picture(0, 0, size: 300_000))
    try other.expectSound()
    // A file of the same region replaces the earlier one, and importing it again changes nothing.
    _ = try region.export(to: file)
    let before = try other.dump()
    try other.catalogue.regions.importRegion(file)
    #expect(try other.dump() == before)
  }

  @Test("A file of a region has nothing but the region")
  func privacy() throws {
    let (store, source) = try origin()
    try store.catalogue.refresh(City.location(2), from: source)
    try store.satchel.state.set("secret", "a secret of the user")
    try store.satchel.state.flush()
    _ = try #require(try store.catalogue.regions["trip"]).export(to: file)
    let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
    #expect(!text.contains("a secret of the user"))
    #expect(!text.contains("Dish 2"))
    #expect(text.contains("Dish 1 2"))
  }

  @Test("What was fetched later than the file stays")
  func newer() throws {
    let (store, source) = try origin()
    _ = try #require(try store.catalogue.regions["trip"]).export(to: file)
    store.clock.advance(hour)
    source.set(try City.location(0), "[\(City.section(0, entities: 1))]", etag: "later")
    try #require(try store.catalogue.regions["trip"]).update(from: source)
    try store.catalogue.regions.importRegion(file)
    #expect(try store.catalogue.load("food", at: City.location(0))?.header.etag == "later")
    #expect(try store.catalogue.load("food", at: City.location(1))?.header.etag == "e1")
    try store.expectSound()
  }

  @Test("Expired content is imported as expired")
  func expired() throws {
    let (store, _) = try origin(hours: "1")
    store.clock.advance(5 * hour)
    _ = try #require(try store.catalogue.regions["trip"]).export(to: file)
    let other = try CatalogueFixture(onDisk: true, clock: store.clock)
    let region = try other.catalogue.regions.importRegion(file)
    #expect(try region.state == .stale)
    #expect(try region.estimate().expired == 6)
    try other.expectSound()
  }

  @Test("A file that is no region's is refused, and changes nothing")
  func foreign() throws {
    let other = try CatalogueFixture(onDisk: true)
    try other.persist("food", #"{"a":1}"#, at: City.location(0))
    let before = try other.dump()
    func check(_ path: String, _ expected: SatchelError.Code) throws {
      #expect(code { try other.catalogue.regions.importRegion(path) } == expected)
      #expect(try other.dump() == before)
      #expect(try other.catalogue.regions.list().isEmpty)
    }
    try check(directory.path + "/absent", .notFound)
    try directory.write("no store", to: "text")
    try check(directory.path + "/text", .foreign)
    try directory.write("", to: "empty")
    try check(directory.path + "/empty", .foreign)
    try check(":memory:", .invalid)
    let store = try CatalogueFixture(onDisk: true)
    try store.satchel.backup(to: directory.path + "/store")
    try check(directory.path + "/store", .foreign)
    try store.catalogue.regions.create("a", City.region(0..<1))
    try store.catalogue.regions.create("b", City.region(0..<1))
    try store.satchel.backup(to: directory.path + "/two")
    try check(directory.path + "/two", .foreign)
    #expect(code { try store.catalogue.regions.importRegion(store.path) } != nil)
    try directory.write("of another program", to: "mine.txt")
    let region = try #require(try store.catalogue.regions["a"])
    #expect(code { try region.export(to: directory.path + "/mine.txt") } == .foreign)
    #expect(code { try region.export(to: directory.path + "/no/such") } != nil)
    #expect(code { try region.export(to: "") } == .invalid)
    #expect(names.filter { $0.hasSuffix(".region") }.isEmpty)
  }

  @Test("A damaged file of a region is refused or imported soundly, whatever byte was changed")
  func damage() throws {
    let (store, _) = try origin()
    _ = try #require(try store.catalogue.regions["trip"]).export(to: file)
    let sound = try Data(contentsOf: URL(filePath: file))
    var state: UInt64 = 42
    func number(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(limit))
    }
    var refused = 0
    for round in 0..<60 {
      var bytes = sound
      switch round % 3 {
      case 0: for _ in 0..<3 { bytes[number(bytes.count)] = UInt8(number(256)) }
      case 1: bytes = bytes.prefix(number(bytes.count))
      default:
        let start = number(bytes.count - 600)
        for index in start..<start + 500 { bytes[index] = UInt8(number(256)) }
      }
      try bytes.write(to: URL(filePath: file))
      let other = try CatalogueFixture()
      let before = try other.dump()
      if code({ try other.catalogue.regions.importRegion(file) }) != nil {
        refused += 1
        #expect(try other.dump() == before)
        #expect(try other.catalogue.regions.list().isEmpty)
      }
      try other.expectSound()
    }
    #expect(refused > 20)
  }

  @Test("A picture with other bytes than its SHA-256 is not imported")
  func otherBytes() throws {
    let store = try CatalogueFixture(onDisk: true)
    let picture = try store.satchel.assets.put(City.picture(1, 1), type: "image/jpeg")
    try store.persist("food", #"{"a":\#(try picture.json.text)}"#, at: City.location(0))
    let region = try store.catalogue.regions.create("trip", City.region(0..<1))
    _ = try region.export(to: file)
    var bytes = try Data(contentsOf: URL(filePath: file))
    let found = try #require(bytes.range(of: Data(City.picture(1, 1).prefix(600))))
    bytes[found.lowerBound + 5] ^= 1
    try bytes.write(to: URL(filePath: file))
    let other = try CatalogueFixture(onDisk: true)
    #expect(code { try other.catalogue.regions.importRegion(file) } == .damaged)
    #expect(try other.catalogue.contexts().isEmpty)
    #expect(try other.catalogue.regions.list().isEmpty)
  }
}
