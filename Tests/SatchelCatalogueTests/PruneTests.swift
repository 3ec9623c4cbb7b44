import Foundation
import Satchel
import Testing

@Suite("Prune")
struct PruneTests {
  private let lyonPlace: Location
  private let parisPlace: Location

  init() throws {
    lyonPlace = try place("fr", "ara", "Lyon")
    parisPlace = try place("fr", "idf", "Paris")
  }

  /// Six variants: s:c in both places, s:l and t:l in each, t:g short-lived; bodies of 7 bytes.
  private func fixture() throws -> CatalogueFixture {
    let fixture = try CatalogueFixture(onDisk: true)
    for location in [lyonPlace, parisPlace] {
      try fixture.persist(
        "s", #"{"c":{"v":1,\#(tag("s:c", "country", hours: "5"))},"l":{"v":2,\#(tag("s:l", "locality"))}}"#,
        at: location)
      try fixture.persist(
        "t",
        #"{"l":{"v":3,\#(tag("t:l", "locality", hours: "2"))},"g":{"v":4,\#(tag("t:g", "global", hours: "1"))}}"#,
        at: location)
    }
    try #require(try fixture.variants().count == 6)
    return fixture
  }

  private func prune(_ fixture: CatalogueFixture, _ set: (inout PruneOptions) -> Void) throws -> PruneReceipt
  {
    var options = PruneOptions()
    set(&options)
    let receipt = try fixture.catalogue.prune(options)
    try fixture.expectSound()
    return receipt
  }

  struct Choice: Sendable, CustomTestStringConvertible {
    var name: String
    var hours: Int64
    var set: @Sendable (inout PruneOptions, Location) -> Void
    var entities: Int
    var contexts = 0
    /// The contents in Lyon and in Paris, with expired entities.
    var left: [String]
    var testDescription: String { name }
  }

  private static let whole = #"{"c":{"v":1},"l":{"v":2}}|{"l":{"v":3},"g":{"v":4}}"#

  @Test(
    "each option, and combinations of them, remove exactly what they select",
    arguments: [
      Choice(name: "nothing has expired", hours: 0, set: { _, _ in }, entities: 0, left: [whole, whole]),
      Choice(
        name: "expired", hours: 2, set: { _, _ in }, entities: 3,
        left: [#"{"c":{"v":1},"l":{"v":2}}|{}"#, #"{"c":{"v":1},"l":{"v":2}}|{}"#]),
      Choice(
        name: "expired of a section", hours: 5, set: { options, _ in options.section = "s" }, entities: 1,
        left: [#"{"l":{"v":2}}|{"l":{"v":3},"g":{"v":4}}"#, #"{"l":{"v":2}}|{"l":{"v":3},"g":{"v":4}}"#]),
      Choice(
        name: "expired of a scope", hours: 5, set: { options, _ in options.scope = .locality }, entities: 2,
        left: [#"{"c":{"v":1},"l":{"v":2}}|{"g":{"v":4}}"#, #"{"c":{"v":1},"l":{"v":2}}|{"g":{"v":4}}"#]),
      Choice(
        name: "expired of a location", hours: 5, set: { $0.location = $1 }, entities: 3,
        left: [#"{"l":{"v":2}}|{}"#, #"{"l":{"v":2}}|{"l":{"v":3}}"#]),
      Choice(
        name: "expired of all three", hours: 5,
        set: {
          $0.location = $1
          $0.section = "t"
          $0.scope = .locality
        },
        entities: 1, left: [#"{"c":{"v":1},"l":{"v":2}}|{"g":{"v":4}}"#, whole]),
      Choice(
        name: "a section", hours: 0,
        set: { options, _ in
          options.expired = false
          options.section = "t"
        },
        entities: 3, left: [#"{"c":{"v":1},"l":{"v":2}}|-"#, #"{"c":{"v":1},"l":{"v":2}}|-"#]),
      Choice(
        name: "a location", hours: 0,
        set: {
          $0.expired = false
          $0.location = $1
        }, entities: 2, contexts: 1,
        left: [#"{"c":{"v":1}}|{"g":{"v":4}}"#, whole]),
      Choice(
        name: "a section of a location", hours: 0,
        set: {
          $0.expired = false
          $0.location = $1
          $0.section = "s"
        }, entities: 1,
        // The section is inherited then.
        left: [#"{"c":{"v":1}}|{"l":{"v":3},"g":{"v":4}}"#, whole]),
      Choice(
        name: "a scope", hours: 0,
        set: { options, _ in
          options.expired = false
          options.scope = .locality
        },
        entities: 4, left: [#"{"c":{"v":1}}|{"g":{"v":4}}"#, #"{"c":{"v":1}}|{"g":{"v":4}}"#]),
      Choice(
        name: "a scope of a location", hours: 0,
        set: {
          $0.expired = false
          $0.location = $1
          $0.scope = .locality
        }, entities: 2,
        left: [#"{"c":{"v":1}}|{"g":{"v":4}}"#, whole]),
      Choice(
        name: "unreferenced, of which there is none", hours: 9,
        set: { options, _ in
          options.expired = false
          options.unreferenced = true
        }, entities: 0, left: [whole, whole]),
      Choice(
        name: "nothing named at all", hours: 9, set: { options, _ in options.expired = false }, entities: 0,
        left: [whole, whole]),
    ])
  func choices(choice: Choice) throws {
    let fixture = try fixture()
    fixture.clock.advance(choice.hours * hour)
    let receipt = try prune(fixture) { choice.set(&$0, lyonPlace) }
    #expect(receipt.entities == choice.entities && receipt.contexts == choice.contexts)
    #expect(receipt.bytes == choice.entities * 7)
    for (location, left) in zip([lyonPlace, parisPlace], choice.left) {
      let shown = try ["s", "t"].map { try fixture.shown($0, at: location, allowExpired: true) }
      #expect(shown.joined(separator: "|") == left)
    }
    #expect(try prune(fixture) { choice.set(&$0, lyonPlace) }.entities == 0)
  }

  @Test("entities that a replaced section no longer references are removed only on request")
  func unreferenced() throws {
    let fixture = try fixture()
    try fixture.persist("s", "{}", at: lyonPlace)
    #expect(try fixture.variants().count == 6)
    #expect(
      try prune(fixture) {
        $0.unreferenced = true
        $0.section = "t"
      }.entities == 0)
    let receipt = try prune(fixture) {
      $0.unreferenced = true
      $0.expired = false
    }
    // s:c is still referenced in Paris.
    #expect(receipt.entities == 1 && receipt.bytes == 7)
    #expect(try fixture.shown("s", at: parisPlace) == #"{"c":{"v":1},"l":{"v":2}}"#)
    #expect(try fixture.variants().count == 5)
  }

  @Test("a pruned entity is missing until it is delivered again")
  func redelivery() throws {
    let fixture = try fixture()
    _ = try prune(fixture) {
      $0.expired = false
      $0.scope = .country
    }
    #expect(try fixture.catalogue.load("s", at: parisPlace)?.missing == ["s:c"])
    let receipt = try fixture.persist(
      "s", #"{"c":{"v":1,\#(tag("s:c", "country"))},"l":{"v":2,\#(tag("s:l", "locality"))}}"#, at: lyonPlace)
    #expect(receipt.saved == 1 && receipt.reused == 1)
    for location in [lyonPlace, parisPlace] {
      #expect(try fixture.shown("s", at: location) == #"{"c":{"v":1},"l":{"v":2}}"#)
      #expect(try fixture.catalogue.load("s", at: location)?.missing == [])
    }
    try fixture.expectSound()
  }

  @Test("pruning a location without its own content removes nothing of the surrounding places")
  func strangers() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", #"{"c":{"v":1,\#(tag("s:c", "country"))}}"#, at: place("fr"))
    for stranger in [
      try place("fr", "bre", "Brest"), try Location(latitude: 1, longitude: 1, countryCode: "fr"),
    ] {
      let receipt = try prune(fixture) {
        $0.expired = false
        $0.location = stranger
      }
      #expect(receipt.entities == 0 && receipt.contexts == 0 && receipt.bytes == 0)
    }
    #expect(try fixture.shown("s", at: place("fr")) == #"{"c":{"v":1}}"#)
  }

  @Test("contexts that are unused for long are removed, with their unshared entities; the active one stays")
  func unused() throws {
    let fixture = try fixture()
    let nice = try place("fr", "paca", "Nice")
    try fixture.persist("s", #"{"l":{"v":5,\#(tag("s:l", "locality"))}}"#, at: nice)
    try fixture.catalogue.setActiveLocation(nice)
    fixture.clock.advance(10 * hour)
    _ = try fixture.catalogue.sections(at: parisPlace)
    fixture.clock.advance(hour)
    let receipt = try prune(fixture) {
      $0.expired = false
      $0.contextsUnusedFor = 5 * hour
    }
    #expect(receipt.contexts == 1 && receipt.entities == 2 && receipt.bytes == 14)
    #expect(try fixture.catalogue.hasCached(lyonPlace) != .exact)
    #expect(
      try fixture.catalogue.hasCached(parisPlace) == .exact && fixture.catalogue.hasCached(nice) == .exact)
    #expect(
      try prune(fixture) {
        $0.expired = false
        $0.contextsUnusedFor = 11 * hour
      }.contexts == 0)
    #expect(
      try prune(fixture) {
        $0.expired = false
        $0.contextsUnusedFor = 0
      }.contexts == 1)
    #expect(try fixture.catalogue.hasCached(nice) == .exact)
  }

  @Test("the active location's context stays also when the device knows only the coordinate")
  func activeCoordinate() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let home = try Location(latitude: 45.75, longitude: 4.85, locality: "Lyon", countryCode: "fr")
    try fixture.persist("s", #"{"l":{"v":5,\#(tag("s:l", "locality"))}}"#, at: home)
    try fixture.catalogue.setActiveLocation(Location(latitude: 45.75, longitude: 4.85))
    fixture.clock.advance(10 * hour)
    #expect(
      try prune(fixture) {
        $0.expired = false
        $0.contextsUnusedFor = hour
      }.contexts == 0)
    #expect(try fixture.catalogue.hasCached(home) == .exact)
  }
}
