import Foundation
import Satchel
import Testing

@Suite("Coming back")
struct ComingBackTests {
  /// One entity of every scope, a note without one, and a container that only a locality fills.
  private static let everything =
    #"{"note":"home","g":{"v":"g",\#(tag("s:g", "global"))},"c":{"v":"c",\#(tag("s:c", "country"))},"a":{"v":"a",\#(tag("s:a", "adminarea"))},"box":{"l":{"v":"l",\#(tag("s:l", "locality"))}},"p":{"v":"p",\#(tag("s:p", "sublocality"))},"list":[{"plain":1},{"v":"d",\#(tag("s:d", "coordinate"))}]}"#

  private func home() throws -> Location {
    try Location(
      latitude: 45.75, longitude: 4.85, sublocality: "Presqu'île", locality: "Lyon", adminArea: "ara",
      countryCode: "fr")
  }

  @Test(
    "a place without content of its own sees what covers it, at the most specific level it shares",
    arguments: [
      (
        "Presqu'île", "Lyon", "ara", "fr", Level.sublocality, 5,
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
    part: String, town: String, area: String, country: String, level: Level, count: Int, expected: String
  ) throws {
    let shelf = try Shelf()
    try shelf.persist("s", Self.everything, at: home())
    try shelf.persist("only here", #"{"note":1,"l":{"v":1,\#(tag("o:1", "coordinate"))}}"#, at: home())
    let moved = try Location(
      latitude: 45.7601, longitude: 4.85, sublocality: part.isEmpty ? nil : part, locality: town,
      adminArea: area,
      countryCode: country)
    let headers = try shelf.catalogue.sections(at: moved)
    #expect(headers.map(\.section) == ["s"])
    #expect(headers.first?.level == level && headers.first?.entityCount == count)
    #expect(try shelf.shown("s", at: moved) == expected)
    #expect(try shelf.catalogue.load("s", at: moved)?.header.level == level)
    #expect(try shelf.catalogue.load("only here", at: moved) == nil)
    #expect(try shelf.catalogue.hasCached(moved) == .inherited)
    #expect(try shelf.catalogue.plan(for: moved).map(\.plan.fresh.count) == [count])
    let covering = ["s:g", "s:c", "s:a", "s:l", "s:p", "s:d"].prefix(count)
    for id in ["s:g", "s:c", "s:a", "s:l", "s:p", "s:d"] {
      #expect((try shelf.catalogue.entity(id, at: moved) != nil) == covering.contains(id))
    }
  }

  @Test("at home everything shows, also when the device knows no more than the coordinate")
  func bareCoordinate() throws {
    let shelf = try Shelf()
    try shelf.persist("s", Self.everything, at: home())
    let bare = try Location(latitude: 45.75, longitude: 4.85)
    let whole =
      #"{"note":"home","g":{"v":"g"},"c":{"v":"c"},"a":{"v":"a"},"box":{"l":{"v":"l"}},"p":{"v":"p"},"list":[{"plain":1},{"v":"d"}]}"#
    for location in [try home(), bare] {
      #expect(try shelf.shown("s", at: location) == whole)
      #expect(try shelf.catalogue.hasCached(location) == .exact)
      #expect(try shelf.catalogue.sections(at: location).map(\.entityCount) == [6])
      #expect(try shelf.catalogue.sections(at: location).map(\.level) == [.coordinate])
    }
    #expect(try shelf.catalogue.hasCached(Location(latitude: 45.7501, longitude: 4.85)) == nil)
  }

  @Test("another country sees nothing, not even what is global")
  func anotherCountry() throws {
    let shelf = try Shelf()
    try shelf.persist("s", Self.everything, at: home())
    for location in [try place("de"), try place("de", "ara", "Lyon", "Presqu'île")] {
      #expect(try shelf.catalogue.sections(at: location).isEmpty)
      #expect(try shelf.catalogue.load("s", at: location) == nil)
      #expect(try shelf.catalogue.plan(for: location).isEmpty)
      #expect(try shelf.catalogue.hasCached(location) == nil)
    }
  }

  @Test("who shares no more than the coordinate sees what is for it and for everywhere, and inherits that")
  func sameCoordinate() throws {
    let shelf = try Shelf()
    try shelf.persist("s", Self.everything, at: home())
    try shelf.persist("t", #"{"c":{"v":"c",\#(tag("t:c", "country"))}}"#, at: home())
    let disputed = try Location(latitude: 45.75, longitude: 4.85, countryCode: "de")
    #expect(try shelf.shown("s", at: disputed) == #"{"g":{"v":"g"},"box":{},"list":[{"v":"d"}]}"#)
    #expect(try shelf.catalogue.sections(at: disputed).map(\.section) == ["s"])
    #expect(try shelf.catalogue.hasCached(disputed) == .inherited)
  }

  @Test("of several contexts the most recently updated serves, whatever the clock says")
  func latest() throws {
    let shelf = try Shelf()
    let (lyon, paris, nice) = (
      try place("fr", "ara", "Lyon"), try place("fr", "idf", "Paris"), try place("fr", "paca")
    )
    let content = { (one: Any) in #"{"x":{"v":"\#(one)",\#(tag("s:\(one)", "country"))}}"# }
    try shelf.persist("s", content("lyon"), at: lyon)
    shelf.clock.advance(-hour)
    try shelf.persist("s", content("paris"), at: paris)
    #expect(try shelf.shown("s", at: nice) == #"{"x":{"v":"paris"}}"#)
    try shelf.persist("s", content("lyon"), at: lyon)
    #expect(try shelf.shown("s", at: nice) == #"{"x":{"v":"lyon"}}"#)
    // The level counts before the time.
    try shelf.persist("s", content("cannes"), at: place("fr", "paca", "Cannes"))
    try shelf.persist("s", content("paris"), at: paris)
    #expect(try shelf.shown("s", at: nice) == #"{"x":{"v":"cannes"}}"#)
  }

  @Test("a union takes each section from the most specific context that has it")
  func union() throws {
    let shelf = try Shelf()
    let content = { (id: String, v: String) in #"{"x":{"v":"\#(v)",\#(tag(id, "country"))}}"# }
    try shelf.persist("a", content("a:1", "paris"), at: place("fr", "idf", "Paris"))
    try shelf.persist("b", content("b:1", "paris"), at: place("fr", "idf", "Paris"))
    try shelf.persist(
      "c", #"{"x":{"v":"vienne",\#(tag("c:1", "adminarea"))}}"#, at: place("fr", "ara", "Vienne"))
    try shelf.persist("b", content("b:2", "vienne"), at: place("fr", "ara", "Vienne"))
    try shelf.persist("a", content("a:2", "lyon"), at: place("fr", "ara", "Lyon"))
    let lyon = try place("fr", "ara", "Lyon")
    #expect(try shelf.catalogue.sections(at: lyon).map(\.section) == ["a"])
    let headers = try shelf.catalogue.sections(at: lyon, union: true)
    #expect(
      Dictionary(uniqueKeysWithValues: headers.map { ($0.section, $0.level) })
        == ["a": .locality, "b": .adminarea, "c": .adminarea])
    let shown = try ["a", "b", "c"].map {
      try shelf.catalogue.load($0, at: lyon, union: true)?.content["x"]?["v"]
    }
    #expect(shown == ["lyon", "vienne", "vienne"])
    #expect(try shelf.catalogue.load("c", at: lyon) == nil)
    #expect(
      try shelf.catalogue.sections(at: place("fr", "idf"), union: true).map(\.section).sorted() == ["a", "b"])
  }

  @Test("a plan says what is fresh, expired and missing; reading may allow what has expired")
  func plan() throws {
    let shelf = try Shelf()
    let here = try place("fr")
    let content =
      #"{"a":{"v":1,\#(tag("s:a", "country", hours: "1"))},"b":{"v":2,\#(tag("s:b", "country", hours: "2"))},"c":{"in":{"v":3,\#(tag("s:d", "global", hours: "1"))},\#(tag("s:c", "country", hours: "3"))}}"#
    try shelf.persist("s", content, at: here)
    func plan() throws -> Plan { try #require(try shelf.catalogue.plan(for: here).first?.plan) }
    #expect(try Set(plan().fresh) == ["s:a", "s:b", "s:c", "s:d"])
    shelf.clock.advance(hour)
    #expect(try Set(plan().expired) == ["s:a", "s:d"])
    #expect(try Set(plan().fresh) == ["s:b", "s:c"])
    #expect(try shelf.shown("s", at: here) == #"{"b":{"v":2},"c":{}}"#)
    let allowed = try #require(try shelf.catalogue.load("s", at: here, allowExpired: true))
    #expect(try allowed.content.text == #"{"a":{"v":1},"b":{"v":2},"c":{"in":{"v":3}}}"#)
    #expect(Set(allowed.expired) == ["s:a", "s:d"])
    #expect(try shelf.catalogue.prune().entities == 2)
    #expect(try Set(plan().missing) == ["s:a", "s:d"])
    #expect(try plan().expired.isEmpty)
    let loaded = try #require(try shelf.catalogue.load("s", at: here, allowExpired: true))
    #expect(loaded.missing == ["s:a", "s:d"] && loaded.expired.isEmpty)
    #expect(try loaded.content.text == #"{"b":{"v":2},"c":{}}"#)
    #expect(try shelf.catalogue.entity("s:a", at: here) == nil)
    try shelf.persist("s", content, at: here)
    #expect(try plan().missing.isEmpty)
    #expect(try plan().fresh.count == 4)
    try shelf.expectSound()
  }

  @Test(
    "a clock that is set back resurrects nothing and loses nothing, also after reopening",
    arguments: [false, true])
  func clockSetBack(reads: Bool) throws {
    let shelf = try Shelf(onDisk: true)
    let here = try place("fr")
    try shelf.persist(
      "s", #"{"a":{"v":1,\#(tag("s:a", "country", hours: "1"))},"b":{"v":2,\#(tag("s:b", "country"))}}"#,
      at: here)
    shelf.clock.advance(2 * hour)
    if reads {
      #expect(try shelf.shown("s", at: here) == #"{"b":{"v":2}}"#)
    } else {
      try shelf.persist("t", "{}", at: place("de"))
    }
    shelf.clock.advance(-100 * hour)
    #expect(try shelf.shown("s", at: here) == #"{"b":{"v":2}}"#)
    try shelf.reopen()
    #expect(try shelf.shown("s", at: here) == #"{"b":{"v":2}}"#)
    #expect(try shelf.catalogue.plan(for: here).first?.plan.expired == ["s:a"])
  }

  @Test("the active location is remembered, and forgotten when told to")
  func activeLocation() throws {
    let shelf = try Shelf(onDisk: true)
    #expect(try shelf.catalogue.activeLocation() == nil)
    let here = try Location(
      latitude: -33.8688, longitude: 151.2093, sublocality: "The Rocks", locality: "Sydney", adminArea: "NSW",
      countryCode: "AU", countryName: "Australia")
    try shelf.catalogue.setActiveLocation(here)
    try shelf.reopen()
    #expect(try shelf.catalogue.activeLocation() == here)
    try shelf.catalogue.setActiveLocation(nil)
    try shelf.reopen()
    #expect(try shelf.catalogue.activeLocation() == nil)
  }

  @Test("ids that differ only in their normal form are two entities, in every list")
  func normalForms() throws {
    let shelf = try Shelf()
    let here = try place("fr")
    let ids = ["s:é", "s:e\u{301}"]
    let members = ids.enumerated().map { #""\#($0)":{"v":\#($0),\#(tag($1, "country", hours: "1"))}"# }
    try shelf.persist("s", "{\(members.joined(separator: ","))}", at: here)
    #expect(
      try shelf.catalogue.plan(for: here).first?.plan.fresh.map { Array($0.utf8) }
        == ids.map { Array($0.utf8) })
    shelf.clock.advance(hour)
    #expect(try shelf.catalogue.load("s", at: here)?.expired.count == 2)
    for (position, id) in ids.enumerated() {
      #expect(try shelf.catalogue.entity(id, at: here)?.content["v"] == .int(Int64(position)))
    }
  }

  @Test("sections come in the order they were first delivered")
  func order() throws {
    let shelf = try Shelf()
    let here = try place("fr")
    for name in ["c", "a", "b", "a", "c"] { try shelf.persist(name, "{}", at: here) }
    #expect(try shelf.catalogue.sections(at: here).map(\.section) == ["c", "a", "b"])
    #expect(
      try shelf.catalogue.sections(at: here).map(\.displayTitle) == [
        "Title of c", "Title of a", "Title of b",
      ])
  }
}
