import Foundation
import Satchel
import SatchelTesting
import Testing

/// Deliveries of places of nine countries, in which half of the names are missing and the others are in one of two
/// languages, as those of several geocoders are.
private struct World {
  var random: SeededRandom
  static let countries = ["it", "fr", "de", "ch", "at", "si", "hr", "hu", "sk"]

  /// The position of a place: countries are ten degrees apart, areas one, towns a tenth, parts a hundredth.
  struct Spot {
    var country: Int
    var area: Int
    var town: Int
    var part: Int

    var latitude: Double { 10 + Double(area) + Double(town) * 0.1 + Double(part) * 0.01 }
    var longitude: Double { -40 + Double(country) * 10 + Double(part) * 0.005 }
  }

  mutating func spot() -> Spot {
    Spot(
      country: Int.random(in: 0..<9, using: &random), area: Int.random(in: 0..<3, using: &random),
      town: Int.random(in: 0..<4, using: &random), part: Int.random(in: 0..<5, using: &random))
  }

  func name(_ kind: String, _ numbers: [Int], _ language: Int) -> String {
    (language == 0 ? "" : "Exo ") + kind + numbers.map { " \($0)" }.joined()
  }

  /// - Parameter names: which of the names of country, admin area, locality and sublocality it has
  func location(_ spot: Spot, names: [Bool], languages: [Int], offset: Double = 0) throws -> Location {
    let (country, area, town, part) = (spot.country, spot.area, spot.town, spot.part)
    return try Location(
      latitude: spot.latitude + offset, longitude: spot.longitude,
      sublocality: names[3] ? name("part", [area, town, part], languages[2]) : nil,
      locality: names[2] ? name("town", [area, town], languages[1]) : nil,
      adminArea: names[1] ? name("area", [area], languages[0]) : nil,
      countryCode: names[0] ? Self.countries[country] : nil)
  }

  mutating func names() -> [Bool] { (0..<4).map { _ in random.chance(50) } }
  mutating func languages() -> [Int] { (0..<3).map { _ in random.chance(50) ? 1 : 0 } }
}

@Suite("Knowing more never finds less")
struct KnowingMoreTests {
  @Test(
    "each further name of a location leaves the sections that it sees, in names of two languages",
    arguments: Portion.of(0..<4 as Range<UInt64>, parts: 4))
  func names(seed: UInt64) throws {
    var world = World(random: SeededRandom(seed: seed + 77))
    let fixture = try CatalogueFixture()
    var model = CatalogueModel(now: fixture.catalogue.database.clock.now())
    let scopes = ["global", "country", "adminarea", "locality", "sublocality", "coordinate"]
    for number in 0..<3500 {
      let spot = world.spot()
      let location = try world.location(
        spot, names: world.names(), languages: world.languages(),
        offset: Double(Int.random(in: 0..<9, using: &world.random)) * 0.001)
      let scope = world.random.pick(scopes)
      let section = "s\(Int.random(in: 0..<12, using: &world.random))"
      let tagged: JSONValue = [
        "v": .int(Int64(number)),
        "_storage": ["entity_id": .string("\(section):\(scope)"), "scope": .string(scope)],
      ]
      _ = model.deliver([(name: section, content: ["x": tagged])], at: location, keepsFresh: false)
      try fixture.catalogue.persist(
        ["section": .string(section), "content": ["x": tagged]], at: location)
    }
    for round in 0..<150 {
      let (spot, languages) = (world.spot(), world.languages())
      // No two deliveries are equally far away.
      let offset = Double(Int.random(in: 0..<30, using: &world.random)) * 0.0005 + 0.0001
      // Without the country its other names do not count.
      var names = [false, false, false, false]
      var (seen, steps) = (Set<String>(), [0, 1, 2, 3].shuffled(using: &world.random))
      while true {
        let location = try world.location(spot, names: names, languages: languages, offset: offset)
        let headers = try fixture.catalogue.sections(at: location)
        let now = Set(headers.map(\.section))
        #expect(seen.isSubset(of: now), "\(location.json): \(seen.subtracting(now).sorted())")
        seen = now
        if round % 5 == 0 {
          let brief = headers.map { "\($0.section) \($0.entityCount) \($0.updatedAt) \($0.level.rawValue)" }
          try #require(brief == model.headers(location), "\(location.json)")
        }
        guard let next = steps.popLast() else { break }
        names[next] = true
      }
    }
    try fixture.expectSound()
  }

  @Test("a name in another language does not hide what the coordinates find")
  func anotherLanguage() throws {
    let fixture = try CatalogueFixture()
    let venice = try Location(
      latitude: 45.4375, longitude: 12.3358, locality: "Venezia", adminArea: "Veneto", countryCode: "IT")
    try fixture.persist(
      "g", #"{"a":{"v":"town",\#(tag("g:a", "locality"))},"b":{"v":"region",\#(tag("g:b", "adminarea"))}}"#,
      at: venice)
    func seen(_ town: String?, _ area: String?, _ country: String?) throws -> JSONValue? {
      let here = try Location(
        latitude: 45.4380, longitude: 12.3360, locality: town, adminArea: area, countryCode: country)
      return try fixture.catalogue.load("g", at: here)?.content
    }
    let all: JSONValue = ["a": ["v": "town"], "b": ["v": "region"]]
    #expect(try seen(nil, nil, nil) == all)
    #expect(try seen("Venice", "Veneto", "IT") == all)
    #expect(try seen("Venise", "Vénétie", nil) == all)
    #expect(try seen("Venise", nil, "IT") == all)
    // A country that the location states is never left.
    #expect(try seen("Benetke", nil, "SI") == nil)
    // Where something was delivered for its own name, that comes first, and the rest is found besides.
    let mestre = try Location(
      latitude: 45.47, longitude: 12.3358, locality: "Mestre", adminArea: "Veneto", countryCode: "IT")
    try fixture.persist("h", #"{"a":{"v":"mestre",\#(tag("h:a", "locality"))}}"#, at: mestre)
    let here = try Location(
      latitude: 45.4380, longitude: 12.3360, locality: "Mestre", adminArea: "Veneto", countryCode: "IT")
    let headers = try fixture.catalogue.sections(at: here)
    #expect(headers.map(\.section) == ["g", "h"])
    #expect(headers[1].resolved.isEmpty && headers[1].level == .locality)
    #expect(headers[0].resolved.map(\.level) == [.coordinate, .locality])
  }

  @Test("a location with all names finds what was delivered for one that lacks some")
  func missingNames() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", #"{"a":{"v":1,\#(tag("s:a", "locality"))}}"#, at: place("it", "", "Venezia"))
    try fixture.persist("t", #"{"a":{"v":1,\#(tag("t:a", "sublocality"))}}"#, at: place("it", "", "", "Lido"))
    let whole = try place("it", "Veneto", "Venezia", "Lido")
    #expect(try fixture.catalogue.sections(at: whole).map(\.section) == ["t", "s"])
    #expect(try fixture.catalogue.sections(at: whole).map(\.level) == [.sublocality, .locality])
    #expect(try fixture.catalogue.sections(at: whole, nearby: 0).isEmpty)
    #expect(try fixture.catalogue.entity("s:a", at: whole) != nil)
    // A name that both have, and that differs, is another place.
    #expect(try fixture.catalogue.sections(at: place("it", "Veneto", "Mestre")).isEmpty)
  }
}
