import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("The catalogue equals a reference model")
struct CatalogueModelTests {
  /// Runs the library and the model together.
  private struct Pair {
    let fixture: CatalogueFixture
    var model: CatalogueModel

    init() throws {
      fixture = try CatalogueFixture()
      model = CatalogueModel(now: fixture.catalogue.database.clock.now())
    }

    mutating func deliver(_ line: String, keepsFresh: Bool, isComplete: Bool = false) throws {
      let value = try JSONValue(parsing: line)
      let location = try Location(json: try #require(value["location"]))
      let sections = try #require(value["sections"]?.arrayValue).map { section in
        (name: section["section"]?.stringValue ?? "", content: section["content"] ?? .null)
      }
      // What was loaded, and is delivered without its tags, keeps its entities: FreshnessTests has that.
      let isLoaded = try sections.enumerated().contains { number, section in
        if try section.content.text.contains("_storage") { return false }
        let stored = try fixture.catalogue.load(section.name, at: location, allowExpired: true)?.content
        return stored == section.content || sections.prefix(number).contains { $0.name == section.name }
      }
      if isLoaded { return }
      let expected = model.deliver(
        sections, at: location, keepsFresh: keepsFresh, isComplete: isComplete)
      let receipts = try Array(line.utf8).withUnsafeBytes {
        try fixture.catalogue.deliver(
          $0, complete: isComplete, reuse: keepsFresh ? .untilExpiry : .unlessChanged)
      }
      let counts = receipts.map {
        CatalogueModel.Counts(saved: $0.saved, updated: $0.updated, reused: $0.reused)
      }
      try #require(counts == expected, "\(line.prefix(300))")
    }

    mutating func prune() throws { try #require(try fixture.catalogue.prune().entities == model.prune()) }

    mutating func move(_ milliseconds: Int64) throws {
      // After the clock is set back by up to 24 hours, the library's time stays at the latest time that it saw.
      fixture.clock.advance(max(milliseconds, model.now - 24 * hour - fixture.clock.now))
      model.now = max(model.now, fixture.clock.now)
      _ = fixture.catalogue.database.clock.now()
    }

    func compare(_ location: Location) throws {
      let catalogue = fixture.catalogue
      let headers = try catalogue.sections(at: location)
      let brief = headers.map { "\($0.section) \($0.entityCount) \($0.updatedAt) \($0.level.rawValue)" }
      try #require(brief == model.headers(location), "\(location.json)")
      let plan = try catalogue.plan(for: location).map { section, plan in
        let words =
          plan.fresh.map { "fresh \($0)" } + plan.expired.map { "expired \($0)" }
          + plan.missing.map { "missing \($0)" }
        return "\(section): \(words.sorted())"
      }
      try #require(plan == model.plan(location), "\(location.json)")
      let own = try catalogue.sections(at: location, inherit: false)
      try #require(
        own.map { "\($0.section) \($0.entityCount) \($0.updatedAt) \($0.level.rawValue)" }
          == model.headers(location, inherits: false))
      let isExact = model.serving(location).contains(where: \.isExact)
      let cached: Catalogue.Cached? = isExact ? .exact : headers.isEmpty ? nil : .inherited
      try #require(try catalogue.hasCached(location) == cached)
      for name in headers.map(\.section) + ["none"] {
        for allowed in [false, true] {
          let loaded = try catalogue.load(name, at: location, allowExpired: allowed)
          let answer = try loaded.map {
            CatalogueModel.Answer(
              content: try $0.content.text, missing: Set($0.missing), expired: Set($0.expired))
          }
          try #require(
            answer == model.load(name, location, allowExpired: allowed), "\(location.json) \(name)")
        }
      }
    }
  }

  @Test(
    "for the deliveries of the fixture, with clock changes, prunes and reads between them",
    arguments: Portion.of(0..<4 as Range<UInt64>, parts: 4))
  func fixture(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var pair = try Pair()
    let lines = Deliveries.lines
    let locations = try lines.map(Deliveries.location)
    for _ in 0..<250 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3: try pair.deliver(random.pick(lines), keepsFresh: random.chance(30))
      case 4: try pair.move(Int64.random(in: -50...100, using: &random) * hour)
      case 5: try pair.prune()
      default:
        let location = random.pick(locations)
        try pair.compare(location)
        if let latitude = location.latitude, let longitude = location.longitude {
          try pair.compare(Location(latitude: latitude, longitude: longitude))
          try pair.compare(
            Location(
              latitude: 0, longitude: longitude, locality: location.locality, adminArea: location.adminArea,
              countryCode: location.countryCode))
        }
      }
    }
    try pair.fixture.expectSound()
  }

  @Test(
    "while deliveries stream in, cut into single sections and mixed at random",
    arguments: Portion.of(0..<4 as Range<UInt64>, parts: 4))
  func streamed(seed: UInt64) throws {
    var random = SeededRandom(seed: seed + 500)
    var pair = try Pair()
    // Several sections of a location arrive in one piece or in many, while those of others arrive.
    var waiting = try Deliveries.lines.shuffled(using: &random).prefix(60).map { line in
      let value = try JSONValue(parsing: line)
      return (
        location: try Location(json: try #require(value["location"])),
        sections: try #require(value["sections"]?.arrayValue)
      )
    }
    let locations = waiting.map(\.location)
    while let index = waiting.indices.randomElement(using: &random) {
      let count = Int.random(in: 1...waiting[index].sections.count, using: &random)
      let sections = waiting[index].sections.prefix(count)
      waiting[index].sections.removeFirst(count)
      let location = waiting[index].location
      let isLast = waiting[index].sections.isEmpty
      if isLast { waiting.remove(at: index) }
      let delivery: JSONValue = ["location": location.json, "sections": .array(Array(sections))]
      try pair.deliver(delivery.text, keepsFresh: false, isComplete: isLast && random.chance(20))
      try pair.compare(location)
      try pair.compare(random.pick(locations))
    }
    for location in locations { try pair.compare(location) }
    try pair.fixture.expectSound()
  }

  @Test(
    "for generated places and contents, with all kinds of nesting and sharing", arguments: Portion.of(0..<12))
  func generated(seed: UInt64) throws {
    var random = SeededRandom(seed: seed + 1000)
    var pair = try Pair()
    let locations = try Self.locations()
    for _ in 0..<400 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        let sections = (0..<Int.random(in: 1...3, using: &random)).map { _ in
          CatalogueFixture.section("s\(Int.random(in: 0..<3, using: &random))", Self.content(&random))
        }
        let location = try random.pick(locations).json.text
        try pair.deliver(
          #"{"location":\#(location),"sections":[\#(sections.joined(separator: ","))]}"#,
          keepsFresh: random.chance(25), isComplete: random.chance(5))
      case 4: try pair.move(Int64.random(in: -20...40, using: &random) * hour / 4)
      case 5: try pair.prune()
      default: try pair.compare(random.pick(locations))
      }
    }
    for location in locations { try pair.compare(location) }
    try pair.fixture.expectSound()
  }

  private static func locations() throws -> [Location] {
    var all = [
      try place("fr"), try place("fr", "a"), try place("fr", "", "x"), try place("de", "a", "x", "p"),
    ]
    for area in ["a", "b"] {
      for town in ["x", "y"] {
        all.append(try place("fr", area, town))
        for part in ["p", "q"] { all.append(try place("fr", area, town, part)) }
      }
    }
    for latitude in [1.0, 2.0] {
      all.append(try Location(latitude: latitude, longitude: 1))
      all.append(try Location(latitude: latitude, longitude: 1, countryCode: "de"))
      all.append(
        try Location(latitude: latitude, longitude: 1, locality: "x", adminArea: "a", countryCode: "fr"))
    }
    return all
  }

  /// Returns a content without repeated ids: other tests cover these.
  private static func content(_ random: inout SeededRandom) -> String {
    var ids = (0..<12).shuffled(using: &random)
    func value(_ levels: Int, _ random: inout SeededRandom) -> String {
      if levels == 0 || random.chance(20) { return random.pick(["1", "2.5", "null", "\"é\"", "[]", "{}"]) }
      if random.chance(25) {
        let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(levels - 1, &random) }
        return "[\(elements.joined(separator: ","))]"
      }
      var members = (0..<Int.random(in: 0...3, using: &random)).map {
        #""k\#($0)":\#(value(levels - 1, &random))"#
      }
      if random.chance(60), let id = ids.popLast() {
        // An id usually, but not always, has the same scope.
        let scopes = ["global", "country", "adminarea", "locality", "sublocality", "coordinate"]
        let scope = random.chance(90) ? scopes[id % 6] : random.pick(scopes)
        members.append(tag("e:\(id)", scope, hours: random.pick([nil, "0", "1", "5", "20"])))
      }
      return "{\(members.joined(separator: ","))}"
    }
    return value(4, &random)
  }
}
