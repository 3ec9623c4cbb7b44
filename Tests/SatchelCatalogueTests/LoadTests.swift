import Foundation
import Satchel
import Testing

@Suite("Loading")
struct LoadTests {
  /// One entity of every scope, a note without one, and a container with an entity only for a locality.
  private static let everything =
    #"{"note":"home","g":{"v":"g",\#(tag("s:g", "global"))},"c":{"v":"c",\#(tag("s:c", "country"))},"a":{"v":"a",\#(tag("s:a", "adminarea"))},"box":{"l":{"v":"l",\#(tag("s:l", "locality"))}},"p":{"v":"p",\#(tag("s:p", "sublocality"))},"list":[{"plain":1},{"v":"d",\#(tag("s:d", "coordinate"))}]}"#

  private func home() throws -> Location {
    try Location(
      latitude: 45.75, longitude: 4.85, sublocality: "Presqu'île", locality: "Lyon", adminArea: "ara",
      countryCode: "fr")
  }

  @Test(
    "a place without its own content sees content that covers it, at the most specific shared level",
    arguments: [
      (
        "Presqu'île", "Lyon", "ara", "fr", Scope.sublocality, 5,
        #"{"g":{"v":"g"},"c":{"v":"c"},"a":{"v":"a"},"box":{"l":{"v":"l"}},"p":{"v":"p"},"list":[]}"#
      ),
      (
        "Croix-Rousse", "Lyon", "ara", "fr", .locality, 4,
        #"{"g":{"v":"g"},"c":{"v":"c"},"a":{"v":"a"},"box":{"l":{"v":"l"}},"list":[]}"#
      ),
      (
        "", "Vienne", "ara", "fr", .adminarea, 3,
        #"{"g":{"v":"g"},"c":{"v":"c"},"a":{"v":"a"},"box":{},"list":[]}"#
      ),
      ("", "Paris", "idf", "fr", .country, 2, #"{"g":{"v":"g"},"c":{"v":"c"},"box":{},"list":[]}"#),
    ])
  func fallback(
    part: String, town: String, area: String, country: String, level: Scope, count: Int, expected: String
  ) throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", Self.everything, at: home())
    try fixture.persist("only here", #"{"note":1,"l":{"v":1,\#(tag("o:1", "coordinate"))}}"#, at: home())
    let moved = try Location(
      latitude: 46.7601, longitude: 4.85, sublocality: part.isEmpty ? nil : part, locality: town,
      adminArea: area,
      countryCode: country)
    let headers = try fixture.catalogue.sections(at: moved)
    #expect(headers.map(\.section) == ["s"])
    #expect(headers.first?.level == level && headers.first?.entityCount == count)
    #expect(try fixture.shown("s", at: moved) == expected)
    #expect(try fixture.catalogue.load("s", at: moved)?.header.level == level)
    #expect(try fixture.catalogue.load("only here", at: moved) == nil)
    #expect(try fixture.catalogue.hasCached(moved) == .inherited)
    #expect(try fixture.catalogue.plan(for: moved).map(\.plan.fresh.count) == [count])
    let covering = ["s:g", "s:c", "s:a", "s:l", "s:p", "s:d"].prefix(count)
    for id in ["s:g", "s:c", "s:a", "s:l", "s:p", "s:d"] {
      #expect((try fixture.catalogue.entity(id, at: moved) != nil) == covering.contains(id))
    }
  }

  @Test("all content is visible at its location, also when the device knows only the coordinate")
  func bareCoordinate() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", Self.everything, at: home())
    let bare = try Location(latitude: 45.75, longitude: 4.85)
    let whole =
      #"{"note":"home","g":{"v":"g"},"c":{"v":"c"},"a":{"v":"a"},"box":{"l":{"v":"l"}},"p":{"v":"p"},"list":[{"plain":1},{"v":"d"}]}"#
    for location in [try home(), bare] {
      #expect(try fixture.shown("s", at: location) == whole)
      #expect(try fixture.catalogue.hasCached(location) == .exact)
      #expect(try fixture.catalogue.sections(at: location).map(\.entityCount) == [6])
      #expect(try fixture.catalogue.sections(at: location).map(\.level) == [.coordinate])
    }
    #expect(
      try fixture.catalogue.hasCached(Location(latitude: 45.7501, longitude: 4.85), nearby: 0) == .inherited)
    #expect(
      try fixture.catalogue.sections(at: Location(latitude: 45.7501, longitude: 4.85), nearby: 0).map(\.level)
        == [.global])
  }

  @Test("another country sees only global content, and so does the high sea")
  func anotherCountry() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", Self.everything, at: home())
    try fixture.persist("t", #"{"c":{"v":"c",\#(tag("t:c", "country"))}}"#, at: home())
    for location in [
      try place("de"), try place("de", "ara", "Lyon", "Presqu'île"),
      try Location(latitude: 0, longitude: -30),
    ] {
      #expect(try fixture.catalogue.sections(at: location).map(\.section) == ["s"])
      #expect(try fixture.catalogue.sections(at: location).map(\.level) == [.global])
      #expect(try fixture.shown("s", at: location) == #"{"g":{"v":"g"},"box":{},"list":[]}"#)
      #expect(try fixture.catalogue.plan(for: location).map(\.plan.fresh) == [["s:g"]])
      #expect(try fixture.catalogue.hasCached(location) == .inherited)
      #expect(try fixture.catalogue.sections(at: location, inherit: false).isEmpty)
    }
    // A complete location inherits nothing.
    try fixture.catalogue.deliver(["location": place("de").json, "sections": []], complete: true)
    #expect(try fixture.catalogue.sections(at: place("de")).isEmpty)
    try fixture.expectSound()
    // The latest context that has the section serves, until it is removed.
    try fixture.persist("s", #"{"n":{"v":"new",\#(tag("s:n", "global"))}}"#, at: place("es"))
    #expect(try fixture.shown("s", at: place("it")) == #"{"n":{"v":"new"}}"#)
    try fixture.persist("u", #"{"u":1}"#, at: place("es"))
    try fixture.persist("s", #"{"n":1}"#, at: place("es"))
    try fixture.expectSound()
    #expect(try fixture.shown("s", at: place("it")) == #"{"g":{"v":"g"},"box":{},"list":[]}"#)
    try fixture.catalogue.deleteContext(home())
    #expect(try fixture.catalogue.sections(at: place("it")).isEmpty)
    try fixture.expectSound()
    try fixture.satchel.catalogue.repair()
    try fixture.expectSound()
  }

  @Test("a location that shares only the coordinate inherits coordinate and global content")
  func sameCoordinate() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", Self.everything, at: home())
    try fixture.persist("t", #"{"c":{"v":"c",\#(tag("t:c", "country"))}}"#, at: home())
    let disputed = try Location(latitude: 45.75, longitude: 4.85, countryCode: "de")
    #expect(try fixture.shown("s", at: disputed) == #"{"g":{"v":"g"},"box":{},"list":[{"v":"d"}]}"#)
    #expect(try fixture.catalogue.sections(at: disputed).map(\.section) == ["s"])
    #expect(try fixture.catalogue.hasCached(disputed) == .inherited)
  }

  @Test("of several contexts the most recently updated one serves, independent of the clock")
  func latest() throws {
    let fixture = try CatalogueFixture()
    let (lyon, paris, nice) = (
      try place("fr", "ara", "Lyon"), try place("fr", "idf", "Paris"), try place("fr", "paca")
    )
    let content = { (one: Any) in #"{"x":{"v":"\#(one)",\#(tag("s:\(one)", "country"))}}"# }
    try fixture.persist("s", content("lyon"), at: lyon)
    fixture.clock.advance(-hour)
    try fixture.persist("s", content("paris"), at: paris)
    #expect(try fixture.shown("s", at: nice) == #"{"x":{"v":"paris"}}"#)
    // A section that is delivered again unchanged is not an update.
    try fixture.persist("s", content("lyon"), at: lyon)
    #expect(try fixture.shown("s", at: nice) == #"{"x":{"v":"paris"}}"#)
    try fixture.persist("s", content("lyons"), at: lyon)
    #expect(try fixture.shown("s", at: nice) == #"{"x":{"v":"lyons"}}"#)
    // The level takes precedence over the time.
    try fixture.persist("s", content("cannes"), at: place("fr", "paca", "Cannes"))
    try fixture.persist("s", content("parisian"), at: paris)
    #expect(try fixture.shown("s", at: nice) == #"{"x":{"v":"cannes"}}"#)
  }

  @Test("each section is inherited from the most specific context that has it")
  func inherited() throws {
    let fixture = try CatalogueFixture()
    let content = { (id: String, v: String) in #"{"x":{"v":"\#(v)",\#(tag(id, "country"))}}"# }
    try fixture.persist("a", content("a:1", "paris"), at: place("fr", "idf", "Paris"))
    try fixture.persist("b", content("b:1", "paris"), at: place("fr", "idf", "Paris"))
    try fixture.persist(
      "c", #"{"x":{"v":"vienne",\#(tag("c:1", "adminarea"))}}"#, at: place("fr", "ara", "Vienne"))
    try fixture.persist("b", content("b:2", "vienne"), at: place("fr", "ara", "Vienne"))
    try fixture.persist("a", content("a:2", "lyon"), at: place("fr", "ara", "Lyon"))
    let lyon = try place("fr", "ara", "Lyon")
    #expect(try fixture.catalogue.sections(at: lyon, inherit: false).map(\.section) == ["a"])
    let headers = try fixture.catalogue.sections(at: lyon)
    #expect(headers.map(\.section) == ["a", "c", "b"])
    #expect(headers.map(\.level) == [.locality, .adminarea, .adminarea])
    let shown = try ["a", "b", "c"].map { try fixture.catalogue.load($0, at: lyon)?.content["x"]?["v"] }
    #expect(shown == ["lyon", "vienne", "vienne"])
    #expect(try fixture.catalogue.plan(for: lyon).map(\.section) == ["a", "c", "b"])
    #expect(try fixture.catalogue.load("c", at: lyon, inherit: false) == nil)
    #expect(try fixture.catalogue.sections(at: place("fr", "idf")).map(\.section).sorted() == ["a", "b"])
  }

  @Test("a section that the latest 64 contexts do not have is inherited from an older one")
  func old() throws {
    let fixture = try CatalogueFixture()
    let content = { (id: String, v: Int) in #"{"x":{"v":\#(v),\#(tag(id, "country"))}}"# }
    for number in 0..<3 {
      try fixture.persist("old", content("old:\(number)", number), at: place("fr", "old \(number)"))
    }
    for number in 0..<100 { try fixture.persist("s", content("s:1", number), at: place("fr", "\(number)")) }
    let here = try place("fr", "here")
    #expect(try fixture.catalogue.sections(at: here).map(\.section) == ["old", "s"])
    #expect(try fixture.shown("old", at: here) == #"{"x":{"v":2}}"#)
    #expect(try fixture.shown("s", at: here) == #"{"x":{"v":99}}"#)
  }

  @Test(
    "a complete location has what was delivered, until one of its sections is removed or it is delivered again"
  )
  func complete() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let (lyon, paris) = (try place("fr", "ara", "Lyon"), try place("fr", "idf", "Paris"))
    let content: (String) -> JSONValue = {
      ["x": ["v": 1, "_storage": ["entity_id": .string($0), "scope": "country"]]]
    }
    for name in ["a", "b"] {
      try fixture.catalogue.persist(["section": .string(name), "content": content("\(name):1")], at: lyon)
    }
    func sections() throws -> [String] { try fixture.catalogue.sections(at: paris).map(\.section) }
    func deliver(_ names: [String], complete: Bool) throws {
      let sections = names.map { JSONValue.object(["section": .string($0), "content": content("\($0):1")]) }
      try fixture.catalogue.deliver(
        ["location": paris.json, "sections": .array(sections)], complete: complete)
    }
    try deliver(["c"], complete: false)
    #expect(try sections() == ["c", "a", "b"])
    try deliver(["c", "d"], complete: true)
    #expect(try sections() == ["c", "d"])
    try fixture.reopen()
    #expect(try sections() == ["c", "d"])
    try fixture.catalogue.persist(["section": "e", "content": content("e:1")], at: paris)
    #expect(try sections() == ["c", "d", "e"])
    var options = PruneOptions()
    (options.expired, options.section, options.location) = (false, "d", paris)
    try fixture.catalogue.prune(options)
    #expect(try sections() == ["c", "e", "a", "b"])
    // What a complete delivery does not have is removed, and its observers are notified.
    let changes = Locked<[[String]]>([])
    let observer = try fixture.satchel.observe { change in changes.withLock { $0.append(change.keys) } }
    try deliver(["e"], complete: true)
    #expect(try sections() == ["e"])
    #expect(changes.withLock { $0 } == [["c"]])
    #expect(try fixture.catalogue.entities(of: "c").map(\.referenceCount) == [0])
    try deliver(["e"], complete: true)
    #expect(changes.withLock { $0 }.count == 1)
    observer.cancel()
    try deliver(["e"], complete: false)
    #expect(try sections() == ["e", "a", "b"])
    try deliver([], complete: true)
    #expect(try sections() == [])
    try fixture.expectSound()
  }

  @Test("a plan lists fresh, expired and missing entities; loading can allow expired ones")
  func plan() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let content =
      #"{"a":{"v":1,\#(tag("s:a", "country", hours: "1"))},"b":{"v":2,\#(tag("s:b", "country", hours: "2"))},"c":{"in":{"v":3,\#(tag("s:d", "global", hours: "1"))},\#(tag("s:c", "country", hours: "3"))}}"#
    try fixture.persist("s", content, at: here)
    func plan() throws -> Plan { try #require(try fixture.catalogue.plan(for: here).first?.plan) }
    #expect(try Set(plan().fresh) == ["s:a", "s:b", "s:c", "s:d"])
    fixture.clock.advance(hour)
    #expect(try Set(plan().expired) == ["s:a", "s:d"])
    #expect(try Set(plan().fresh) == ["s:b", "s:c"])
    #expect(try fixture.shown("s", at: here) == #"{"b":{"v":2},"c":{}}"#)
    let allowed = try #require(try fixture.catalogue.load("s", at: here, allowExpired: true))
    #expect(try allowed.content.text == #"{"a":{"v":1},"b":{"v":2},"c":{"in":{"v":3}}}"#)
    #expect(Set(allowed.expired) == ["s:a", "s:d"])
    #expect(try fixture.catalogue.prune().entities == 2)
    #expect(try Set(plan().missing) == ["s:a", "s:d"])
    #expect(try plan().expired.isEmpty)
    let loaded = try #require(try fixture.catalogue.load("s", at: here, allowExpired: true))
    #expect(loaded.missing == ["s:a", "s:d"] && loaded.expired.isEmpty)
    #expect(try loaded.content.text == #"{"b":{"v":2},"c":{}}"#)
    #expect(try fixture.catalogue.entity("s:a", at: here) == nil)
    try fixture.persist("s", content, at: here)
    #expect(try plan().missing.isEmpty)
    #expect(try plan().fresh.count == 4)
    try fixture.expectSound()
  }

  @Test(
    "setting the clock back by up to 24 hours neither revives nor loses entities, also after reopening",
    arguments: [false, true])
  func clockSetBack(reads: Bool) throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let here = try place("fr")
    try fixture.persist(
      "s", #"{"a":{"v":1,\#(tag("s:a", "country", hours: "1"))},"b":{"v":2,\#(tag("s:b", "country"))}}"#,
      at: here)
    fixture.clock.advance(2 * hour)
    if reads {
      #expect(try fixture.shown("s", at: here) == #"{"b":{"v":2}}"#)
    } else {
      try fixture.persist("t", "{}", at: place("de"))
    }
    fixture.clock.advance(-24 * hour)
    #expect(try fixture.shown("s", at: here) == #"{"b":{"v":2}}"#)
    try fixture.reopen()
    #expect(try fixture.shown("s", at: here) == #"{"b":{"v":2}}"#)
    #expect(try fixture.catalogue.plan(for: here).first?.plan.expired == ["s:a"])
  }

  @Test("entities of a clock that was ahead live as long as they were to, and are pruned after that")
  func clockAhead() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let here = try place("fr")
    fixture.clock.advance(87_600 * hour)
    for number in 0..<600 {
      try fixture.persist(
        "s\(number)", #"{"a":{"v":1,\#(tag("s:\(number)", "country", hours: "10"))}}"#, at: here)
    }
    fixture.clock.advance(-87_600 * hour)
    #expect(try fixture.shown("s7", at: here) == #"{"a":{"v":1}}"#)
    #expect(try fixture.catalogue.entity("s:7", at: here)?.expiresAt == fixture.clock.now + 10 * hour)
    try fixture.expectSound()
    fixture.clock.advance(10 * hour)
    #expect(try fixture.catalogue.plan(for: here).allSatisfy { $0.plan.expired.count == 1 })
    #expect(try fixture.catalogue.prune().entities == 600)
  }

  @Test("the active location persists until it is removed")
  func activeLocation() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    #expect(try fixture.catalogue.activeLocation() == nil)
    let here = try Location(
      latitude: -33.8688, longitude: 151.2093, sublocality: "The Rocks", locality: "Sydney", adminArea: "NSW",
      countryCode: "AU", countryName: "Australia")
    try fixture.catalogue.setActiveLocation(here)
    try fixture.reopen()
    #expect(try fixture.catalogue.activeLocation() == here)
    try fixture.catalogue.setActiveLocation(nil)
    try fixture.reopen()
    #expect(try fixture.catalogue.activeLocation() == nil)
  }

  @Test("ids that differ only in their Unicode normal form are two entities, in every list")
  func normalForms() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let ids = ["s:é", "s:e\u{301}"]
    let members = ids.enumerated().map { #""\#($0)":{"v":\#($0),\#(tag($1, "country", hours: "1"))}"# }
    try fixture.persist("s", "{\(members.joined(separator: ","))}", at: here)
    #expect(
      try fixture.catalogue.plan(for: here).first?.plan.fresh.map { Array($0.utf8) }
        == ids.map { Array($0.utf8) })
    fixture.clock.advance(hour)
    #expect(try fixture.catalogue.load("s", at: here)?.expired.count == 2)
    for (position, id) in ids.enumerated() {
      #expect(try fixture.catalogue.entity(id, at: here)?.content["v"] == .int(Int64(position)))
    }
  }

  @Test("sections are listed in the order of first delivery")
  func order() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    for name in ["c", "a", "b", "a", "c"] { try fixture.persist(name, "{}", at: here) }
    #expect(try fixture.catalogue.sections(at: here).map(\.section) == ["c", "a", "b"])
    #expect(
      try fixture.catalogue.sections(at: here).map(\.displayTitle) == [
        "Title of c", "Title of a", "Title of b",
      ])
  }
}
