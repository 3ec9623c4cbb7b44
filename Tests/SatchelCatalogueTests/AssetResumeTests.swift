import Foundation
import Satchel
import SatchelRemoteTesting
import SatchelTesting
import Testing

@Suite("Fetches of assets that were interrupted", .enabled(if: ContentServer.isRunning))
struct AssetResumeTests {
  let server: ContentServer
  let fixture: CatalogueFixture
  let source: HTTPSource
  let size = 3_000_000
  let half = 2_000_000

  init() throws {
    server = try ContentServer()
    fixture = try CatalogueFixture(onDisk: true)
    source = try HTTPSource(baseURL: server.url)
    try server.change(["size": .int(Int64(size))])
  }

  private func asset() throws -> Asset { try Asset(url: server.url + "/asset/film.mp4") }

  private func fetch(_ asset: Asset) throws -> AssetFetchReport {
    var options = AssetFetchOptions()
    options.ignoresBackoff = true
    return try fixture.satchel.assets.fetch([asset], options: options, using: source.asset)
  }

  /// Fetches an asset whose transfer is cut, and returns the failure.
  private func interrupt(_ asset: Asset, _ fault: String = "cut") throws -> String? {
    try server.expect(["fault": .string(fault), "bytes": .int(Int64(half))])
    return try fetch(asset).failed.first?.message
  }

  private func ranges() throws -> [String?] { try server.counts().seen.map { $0.headers["range"] } }

  private func incoming() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: fixture.path + ".assets/incoming")) ?? []
  }

  @Test("go on with the bytes that follow, also after the store was opened again") func goOn() throws {
    let asset = try asset()
    try fixture.catalogue.persist(
      ["section": "films", "content": ["film": asset.json]], at: Location(countryCode: "IT"))
    #expect(try interrupt(asset) != nil)
    #expect(incoming().count == 1)
    try fixture.satchel.assets.prune()
    try fixture.reopen()
    #expect(try fixture.satchel.check() == [])
    try server.change(["reset": true])
    #expect(try fetch(asset).fetched == 1)
    let ranges = try ranges()
    #expect(ranges.count == 1 && ranges[0]?.hasPrefix("bytes=\(half)-") == true)
    #expect(try fixture.satchel.assets.info(of: asset).size == Int64(size))
    #expect(incoming() == [])
    let again = try CatalogueFixture(onDisk: true)
    #expect(try again.satchel.assets.fetch([asset], using: source.asset).fetched == 1)
    #expect(
      try again.satchel.assets.bytes(of: asset) == fixture.satchel.assets.bytes(of: asset))
    #expect(try fixture.satchel.check() == [])
  }

  @Test("of another version begin again, as do those that the server does not know or cannot name")
  func otherVersion() throws {
    let asset = try asset()
    #expect(try interrupt(asset) != nil)
    try server.change(["version": 2, "reset": true])
    #expect(try fetch(asset).fetched == 1)
    // The first answer has another tag, so that all of it is asked for.
    #expect(try ranges().map { $0 == nil } == [false, true])
    let reference = try CatalogueFixture(onDisk: true)
    try reference.satchel.assets.fetch([asset], using: source.asset)
    #expect(try fixture.satchel.assets.bytes(of: asset) == reference.satchel.assets.bytes(of: asset))
  }

  @Test("without a tag begin again, unless the reference has the SHA-256") func noTag() throws {
    try server.change(["etag": false])
    let asset = try asset()
    #expect(try interrupt(asset) != nil)
    #expect(incoming() == [])
    #expect(try fetch(asset).fetched == 1)
    let known = try fixture.satchel.assets.info(of: asset)
    let other = try CatalogueFixture(onDisk: true)
    let stated = try Asset(sha256: #require(known.sha256), size: nil, type: nil, url: asset.url)
    try server.expect(["fault": "cut", "bytes": .int(Int64(half))])
    var options = AssetFetchOptions()
    options.ignoresBackoff = true
    #expect(try other.satchel.assets.fetch([stated], options: options, using: source.asset).failed.count == 1)
    #expect(try other.satchel.assets.fetch([stated], options: options, using: source.asset).fetched == 1)
    #expect(try ranges().last??.hasPrefix("bytes=\(half)-") == true)
    // Bytes that are not those of the SHA-256 are removed, and the next fetch begins again.
    let third = try CatalogueFixture(onDisk: true)
    try server.expect(["fault": "cut", "bytes": .int(Int64(half))])
    #expect(try third.satchel.assets.fetch([stated], options: options, using: source.asset).failed.count == 1)
    try server.change(["version": 3])
    #expect(try third.satchel.assets.fetch([stated], options: options, using: source.asset).failed.count == 1)
    try server.change(["version": 1])
    #expect(try third.satchel.assets.fetch([stated], options: options, using: source.asset).fetched == 1)
  }

  @Test("from a server without ranges skip what is there") func noRanges() throws {
    let asset = try asset()
    #expect(try interrupt(asset) != nil)
    try server.change(["ranges": false, "reset": true])
    #expect(try fetch(asset).fetched == 1)
    let reference = try CatalogueFixture(onDisk: true)
    try reference.satchel.assets.fetch([asset], using: source.asset)
    #expect(try fixture.satchel.assets.bytes(of: asset) == reference.satchel.assets.bytes(of: asset))
  }

  @Test("that are too large, or small, leave nothing") func nothingLeft() throws {
    var options = AssetFetchOptions()
    options.maxSize = 2_500_000
    let large = try asset()
    #expect(
      try fixture.satchel.assets.fetch([large], options: options, using: source.asset).failed.count == 1)
    #expect(incoming() == [])
    try server.expect(["fault": "cut", "bytes": 1000])
    let small = try Asset(url: server.url + "/asset/small")
    #expect(try fixture.satchel.assets.fetch([small], using: source.asset).failed.count == 1)
    #expect(incoming() == [])
  }

  @Test("leave their bytes to no one once nothing refers to their URL") func abandoned() throws {
    #expect(try interrupt(asset()) != nil)
    fixture.clock.advance(48 * hour)
    try fixture.satchel.assets.prune()
    try fixture.satchel.assets.verify()
    #expect(try fixture.satchel.check() == [])
  }
}
