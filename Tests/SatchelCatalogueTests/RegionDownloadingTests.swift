import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

@Suite("Offline regions, downloads")
struct RegionDownloadingTests {
  @Test("A download gets all content and all pictures, and is complete")
  func download() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 4)
    let region = try store.catalogue.regions.create("trip", City.region(0..<3))
    let seen = SeenProgress()
    let report = try region.download(from: source, progress: seen.add)
    #expect(report.state == .complete)
    #expect(report.failed.isEmpty)
    #expect(report.requests == 3)
    #expect(report.assets == 12)
    #expect(report.size.entities == 12)
    #expect(report.size.sections == 3)
    #expect(report.size.requestsLeft == 0)
    let all = seen.all
    for (before, after) in zip(all, all.dropFirst()) {
      #expect(before.itemsDone <= after.itemsDone && before.bytesDone <= after.bytesDone)
      #expect(before.items <= after.items)
    }
    #expect(all.last?.itemsDone == 15)
    #expect(all.last?.bytesDone == report.size.totalBytes)
    source.forget()
    let again = try region.download(from: source)
    #expect(again.requests == 0 && again.assets == 0 && source.asked.isEmpty && source.fetched.isEmpty)
    try store.reopen()
    #expect(try store.catalogue.regions["trip"]?.state == .complete)
    #expect(try store.catalogue.regions.list().first?.downloadedAt != nil)
    try store.expectSound()
  }

  @Test("An item that fails is listed, and does not stop the others")
  func failures() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 2)
    source.fail(try City.location(1).keys[0].text)
    source.fail(City.url(0, 1))
    let region = try store.catalogue.regions.create("trip", City.region(0..<3))
    let seen = SeenProgress()
    let report = try region.download(from: source, progress: seen.add)
    // Two of three requests, and three of the four pictures that these have.
    let last = try #require(seen.all.last)
    #expect(last.itemsDone == 5 && last.items == 7)
    #expect(report.state == .partial)
    #expect(report.failed.count == 2)
    #expect(report.assets == 3)
    #expect(try region.summary().failed.count == 2)
    source.fail(try City.location(1).keys[0].text, false)
    source.fail(City.url(0, 1), false)
    store.clock.advance(25 * hour)
    source.forget()
    let later = try region.download(from: source)
    #expect(later.state == .complete)
    #expect(source.asked.count == 1)
    #expect(Set(source.fetched) == [City.url(0, 1), City.url(1, 0), City.url(1, 1)])
  }

  @Test("A location of which the source has nothing is not asked for again")
  func absent() throws {
    let store = try CatalogueFixture()
    let source = try City.source(places: 1, entities: 1)
    let region = try store.catalogue.regions.create("trip", City.region(0..<2))
    let report = try region.download(from: source)
    #expect(report.state == .complete)
    #expect(report.notFound == 1)
    source.forget()
    try region.download(from: source)
    #expect(source.asked.isEmpty)
  }

  @Test("An update asks only for what is expired or has an entity tag, and stores what changed")
  func update() throws {
    let store = try CatalogueFixture()
    let source = try City.source(places: 3, entities: 2)
    let region = try store.catalogue.regions.create("trip", City.region(0..<3))
    try region.download(from: source)
    source.set(try City.location(1), "[\(City.section(1, entities: 3))]", etag: "new")
    source.set(City.url(1, 2), City.picture(1, 2))
    source.forget()
    let report = try region.update(from: source)
    #expect(report.refreshed == 1)
    #expect(Set(source.asked.compactMap(\.etag)) == ["e0", "e1", "e2"])
    #expect(source.fetched == [City.url(1, 2)])
    #expect(report.state == .complete)
    source.set(try City.location(1), "[\(City.section(1, entities: 3))]")
    try region.update(from: source)
    source.forget()
    try region.update(from: source)
    #expect(source.asked.count == 2)
  }

  @Test("A cancelled download keeps what it has, and the next one goes on")
  func cancellation() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 3, entities: 3)
    let region = try store.catalogue.regions.create("trip", City.region(0..<3))
    var options = RegionDownloadOptions()
    options.parallel = 1
    var last = RegionProgress()
    for round in 0..<20 {
      let calls = Mutex(0)
      let seen = SeenProgress()
      let found = code {
        try region.download(
          from: source, options: options,
          progress: { now in
            _ = seen.add(now)
            return calls.withLock { calls in
              calls += 1
              return calls < 4
            }
          })
      }
      let first = try #require(seen.all.first)
      #expect(first.itemsDone >= last.itemsDone && first.bytesDone >= last.bytesDone, "round \(round)")
      last = try #require(seen.all.last)
      if found == nil { break }
      #expect(found == .cancelled)
    }
    #expect(try region.state == .complete)
    #expect(source.asked.count == 3 && source.fetched.count == 9)
    #expect(Set(source.fetched).count == 9)
  }

  @Test("The limit of a region is an error that names it, and what fits is there")
  func limit() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 1, entities: 8)
    var definition = try City.region(0..<1)
    definition.maxBytes = 6000
    let region = try store.catalogue.regions.create("trip", definition)
    do {
      try region.download(from: source)
      Issue.record("no error")
    } catch let error as SatchelError {
      #expect(error.code == .full)
      #expect(error.message.contains("region trip"))
      #expect(error.details.id == "trip" && error.details.limit == 6000)
    }
    let size = try region.estimate()
    #expect(size.totalBytes <= 6000)
    #expect(size.assets > 0 && size.assetsLeft > 0)
    definition.maxBytes = nil
    try region.define(definition)
    var options = RegionDownloadOptions()
    options.maxBytes = 1500
    let part = try region.download(from: source, options: options)
    #expect(part.waiting > 0 && part.assetBytes <= 1500 && part.state == .partial)
    #expect(try region.download(from: source).state == .complete)
  }

  @Test("Assets that are larger than a region allows do not belong to it")
  func largeAssets() throws {
    let store = try CatalogueFixture(onDisk: true)
    let source = try City.source(places: 1, entities: 3)
    source.set(City.url(0, 1), City.picture(0, 1, size: 100_000))
    var definition = try City.region(0..<1)
    definition.maxAssetSize = 50_000
    let region = try store.catalogue.regions.create("trip", definition)
    let report = try region.download(from: source)
    #expect(report.state == .complete)
    #expect(report.size.tooLarge == 1)
    source.forget()
    try region.download(from: source)
    #expect(source.fetched.isEmpty)
    definition.maxAssetSize = 200_000
    try region.define(definition)
    #expect(try region.download(from: source).assets == 1)
  }

  @Test("Another handle that prunes while a region downloads removes nothing of it")
  func prunedMeanwhile() throws {
    let store = try CatalogueFixture(onDisk: true)
    let other = try store.another()
    defer { try? other.close() }
    var options = PruneOptions()
    (options.maxBytes, options.unreferenced, options.contextsUnusedFor) = (1, true, 0)
    let prune = options
    let source = RegionSource {
      try other.catalogue.prune(prune)
      try other.assets.prune(maxBytes: 1)
    }
    try City.fill(source, places: 4, entities: 3)
    let region = try store.catalogue.regions.create("trip", City.region(0..<4))
    #expect(try region.download(from: source).state == .complete)
    #expect(try region.estimate().assets == 12)
    // Content that is here while it is asked for is passed over, and so is the request.
    source.forget()
    let report = try region.update(from: source)
    #expect(report.failed.isEmpty && report.unchanged == 4 && source.asked.count == 4)
    var sections = try City.region(0..<4)
    sections.sections = ["sights", "food"]
    try region.define(sections)
    #expect(try region.download(from: source).failed.isEmpty)
    try store.expectSound()
  }
}
