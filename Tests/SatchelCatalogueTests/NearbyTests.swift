import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelCatalogue

@Suite("Levels that are resolved by distance")
struct NearbyTests {
  /// Returns the distance of two positions as the angle between two vectors: another formula than the
  /// library's.
  private func distance(_ one: Location, _ latitude: Double, _ longitude: Double) -> Double {
    func vector(_ latitude: Double, _ longitude: Double) -> [Double] {
      let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
      return [cos(phi) * cos(lambda), cos(phi) * sin(lambda), sin(phi)]
    }
    let (a, b) = (vector(one.latitude ?? 0, one.longitude ?? 0), vector(latitude, longitude))
    let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    let product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return 6_371_008.8 * atan2(sqrt(cross.reduce(0) { $0 + $1 * $1 }), product)
  }

  private func town(_ latitude: Double, _ longitude: Double, _ name: String?) throws -> Location {
    try Location(
      latitude: latitude, longitude: longitude, locality: name, adminArea: name.map { _ in "area" },
      countryCode: name.map { _ in "xx" })
  }

  private func fill(_ fixture: CatalogueFixture, _ locations: [Location]) throws {
    for location in locations {
      try fixture.catalogue.deliver(["location": location.json, "sections": []], complete: true)
    }
  }

  @Test("the distances are those on a sphere")
  func distances() throws {
    let known: [(Double, Double, Double, Double, Double)] = [
      (48.8566, 2.3522, 51.5074, -0.1278, 343_556), (0, 0, 0, 180, 20_015_115), (90, 0, -90, 0, 20_015_115),
      (0, 179.5, 0, -179.5, 111_195), (89.9, 0, 89.9, 180, 22_239), (10, 10, 10, 10, 0),
    ]
    for (latitude, longitude, other, otherLongitude, metres) in known {
      let found = GreatCircle.distance(from: (latitude, longitude), to: (other, otherLongitude))
      #expect(abs(found - metres) < 2, "\(latitude), \(longitude): \(found)")
    }
  }

  @Test(
    "locate finds the same as a full scan, by distance, everywhere on the earth",
    arguments: Portion.of(0..<4 as Range<UInt64>, parts: 4))
  func scan(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func position() -> (Double, Double) {
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        // The antimeridian.
        (
          Double.random(in: -60...60, using: &random),
          (random.chance(50) ? 1 : -1) * Double.random(in: 179.9...180, using: &random)
        )
      case 1:
        // The poles.
        (
          (random.chance(50) ? 1 : -1) * Double.random(in: 89.9...90, using: &random),
          Double.random(in: -180...180, using: &random)
        )
      case 2: (random.pick([0, 90, -90, 45]), random.pick([0, 180, -180, 90]))
      case 3: (48.85 + Double.random(in: -0.05...0.05, using: &random), 2.35)
      default: (Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
      }
    }
    let fixture = try CatalogueFixture(onDisk: true)
    var locations: [Location] = []
    for number in 0..<200 {
      let (latitude, longitude) = position()
      locations.append(try town(latitude, longitude, "t\(number)"))
    }
    try fill(fixture, locations)
    func compare() throws {
      for _ in 0..<100 {
        let (latitude, longitude) = position()
        let within: Double = random.pick([0, 20, 5000, 50_000, 2_000_000, 19_000_000, 30_000_000])
        let expected = locations.map { (location: $0, distance: distance($0, latitude, longitude)) }
          .filter { $0.distance <= within }.sorted { $0.distance < $1.distance }
        let found = try fixture.catalogue.locate(latitude: latitude, longitude: longitude, within: within)
        // The two formulas differ by less than a centimetre, which may decide at the border.
        guard !locations.contains(where: { abs(distance($0, latitude, longitude) - within) < 0.01 }) else {
          continue
        }
        #expect(Set(found.map(\.location.locality)) == Set(expected.map(\.location.locality)))
        for (one, other) in zip(found, expected) { #expect(abs(one.distance - other.distance) < 0.01) }
      }
    }
    try compare()
    try fixture.expectSound()
    // Some contexts are removed, others added.
    for _ in 0..<20 {
      let index = Int.random(in: locations.indices, using: &random)
      var options = PruneOptions()
      (options.expired, options.location) = (false, locations[index])
      try fixture.persist("s", "{}", at: locations[index])
      try fixture.catalogue.prune(options)
      locations.remove(at: index)
    }
    let added = try (0..<10).map { try town(position().0, position().1, "new \($0)") }
    try fill(fixture, added)
    locations += added
    try compare()
    try fixture.expectSound()
    // As where SQLite has no R*Trees: all contexts are scanned.
    try fixture.catalogue.database.write {
      try $0.connection.run("DELETE FROM setting WHERE key = 'located_through'")
    }
    try compare()
    try fixture.satchel.catalogue.repair()
    try compare()
    try fixture.expectSound()
  }

  @Test("a location without names inherits what the nearest delivered location would")
  func resolved() throws {
    let fixture = try CatalogueFixture()
    func content(_ value: String) -> String {
      let scopes = ["global", "country", "adminarea", "locality", "coordinate"]
      return "{"
        + scopes.map { #""\#($0)":{"v":"\#(value)",\#(tag("\($0):\(value)", $0))}"# }.joined(separator: ",")
        + #","note":"inline"}"#
    }
    let (here, there) = (try town(48.8566, 2.3522, "Paris"), try town(48.9, 2.3522, "Saint-Denis"))
    try fixture.persist("s", content("paris"), at: here)
    try fixture.persist("s", content("denis"), at: there)
    try fixture.persist("t", content("denis"), at: there)
    // 11 metres to the north.
    let near = try Location(latitude: 48.8567, longitude: 2.3522)
    let headers = try fixture.catalogue.sections(at: near)
    #expect(headers.map(\.section) == ["s", "t"])
    #expect(headers.map(\.level) == [.coordinate, .adminarea])
    #expect(headers.map { $0.resolved.first?.location } == [here, here])
    #expect(
      headers.map { $0.resolved.map(\.level) } == [
        [.coordinate, .locality, .adminarea, .country], [.adminarea, .country],
      ])
    #expect(headers.allSatisfy { $0.resolved.allSatisfy { (11..<12).contains($0.metres) } })
    let section = try #require(try fixture.catalogue.load("s", at: near))
    #expect(section.header == headers[0] && section.content["locality"]?["v"] == "paris")
    #expect(section.content["coordinate"]?["v"] == "paris" && section.content["note"] == nil)
    #expect(try fixture.catalogue.plan(for: near).map(\.section) == ["s", "t"])
    #expect(try fixture.catalogue.hasCached(near) == .inherited)
    // The same location with its names is resolved to nothing else.
    #expect(try fixture.catalogue.sections(at: here).allSatisfy(\.resolved.isEmpty))
    // Not further than allowed, and not at all.
    func levels(_ location: Location, nearby: Double) throws -> [Scope] {
      try fixture.catalogue.sections(at: location, nearby: nearby).map(\.level)
    }
    #expect(try levels(near, nearby: 11) == [.adminarea, .adminarea])
    #expect(try levels(near, nearby: 1) == [.global, .global])
    #expect(try levels(near, nearby: 0) == [.global, .global])
    #expect(try fixture.catalogue.load("s", at: near, nearby: 0)?.content == ["global": ["v": "denis"]])
    #expect(try fixture.catalogue.sections(at: near, inherit: false).isEmpty)
    // Ten times as far for the admin area and the country.
    #expect(
      try levels(Location(latitude: 48.5, longitude: 2.3522), nearby: 5000) == [.adminarea, .adminarea])
    #expect(try levels(Location(latitude: 48.3, longitude: 2.3522), nearby: 5000) == [.global, .global])
    // The nearest one counts, not the latest one.
    let between = try Location(latitude: 48.88, longitude: 2.3522)
    #expect(try fixture.catalogue.sections(at: between).first?.resolved.first?.location == there)
    for distance in [-1, Double.nan] {
      #expect(throws: SatchelError.self) { try fixture.catalogue.sections(at: near, nearby: distance) }
      #expect(throws: SatchelError.self) {
        try fixture.catalogue.locate(latitude: 1, longitude: 1, within: distance)
      }
    }
    #expect(throws: JSONError.self) { try fixture.catalogue.locate(latitude: 91, longitude: 1) }
  }

  @Test("persisting does not resolve place names: content for a coordinate alone has no other places")
  func persisting() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:1", "locality"))}}"#, at: town(10, 10, "Town"))
    let near = try Location(latitude: 10.001, longitude: 10)
    let receipt = try fixture.persist("t", #"{"x":{"v":1,\#(tag("t:1", "locality"))}}"#, at: near)
    #expect(receipt.saved == 0 && receipt.problems.count == 1)
    // Its own section, and those that it inherits.
    #expect(try fixture.catalogue.sections(at: near).map(\.section) == ["t", "s"])
    #expect(
      try fixture.catalogue.sections(at: near).map { $0.resolved.first?.location.locality } == [nil, "Town"])
    #expect(try fixture.catalogue.hasCached(near) == .exact)
    // An edit of a section that is only near starts from nothing.
    try fixture.edit("s", #"{"operation":"merge"}"#, #"{"y":1}"#, at: near)
    #expect(try fixture.shown("s", at: near) == #"{"y":1}"#)
    // A delivered location without names gives none.
    let beside = try Location(latitude: 10.0015, longitude: 10)
    #expect(try fixture.catalogue.sections(at: beside).last?.resolved.last?.location.locality == "Town")
    try fixture.expectSound()
  }

  @Test("a session shows a location without names")
  func session() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:1", "locality"))}}"#, at: town(10, 10, "Town"))
    let session = Session(fixture.catalogue)
    try session.show(Location(latitude: 10.001, longitude: 10))
    #expect(session.state.sections.map(\.name) == ["s"])
    #expect(session.state.sections.first?.header?.resolved.first?.location.locality == "Town")
    let resolved = try SessionFixture.json(session)["sections"]?.arrayValue?.first?["resolved"]
    #expect(resolved?["locality"]?["location"]?["locality"] == "Town")
  }
}
