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
  private func shelf() throws -> Shelf {
    let shelf = try Shelf(onDisk: true)
    for location in [lyonPlace, parisPlace] {
      try shelf.persist(
        "s", #"{"c":{"v":1,\#(tag("s:c", "country", hours: "5"))},"l":{"v":2,\#(tag("s:l", "locality"))}}"#,
        at: location)
      try shelf.persist(
        "t",
        #"{"l":{"v":3,\#(tag("t:l", "locality", hours: "2"))},"g":{"v":4,\#(tag("t:g", "global", hours: "1"))}}"#,
        at: location)
    }
    try #require(try shelf.variants().count == 6)
    return shelf
  }

  private func prune(_ shelf: Shelf, _ set: (inout PruneOptions) -> Void) throws -> PruneReceipt {
    var options = PruneOptions()
    set(&options)
    let receipt = try shelf.catalogue.prune(options)
    try shelf.expectSound()
    return receipt
  }

  struct Choice: Sendable, CustomTestStringConvertible {
    var name: String
    var hours: Int64
    var set: @Sendable (inout PruneOptions, Location) -> Void
    var entities: Int
    var contexts = 0
    /// In Lyon and in Paris, with what has expired allowed.
    var left: [String]
    var testDescription: String { name }
  }

  private static let whole = #"{"c":{"v":1},"l":{"v":2}}|{"l":{"v":3},"g":{"v":4}}"#

  @Test(
    "each option, and mixes of them, take exactly what they name",
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
        left: [#"-|{"l":{"v":3},"g":{"v":4}}"#, whole]),
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
    let shelf = try shelf()
    shelf.clock.advance(choice.hours * hour)
    let receipt = try prune(shelf) { choice.set(&$0, lyonPlace) }
    #expect(receipt.entities == choice.entities && receipt.contexts == choice.contexts)
    #expect(receipt.bytes == choice.entities * 7)
    for (location, left) in zip([lyonPlace, parisPlace], choice.left) {
      let shown = try ["s", "t"].map { try shelf.shown($0, at: location, allowExpired: true) }
      #expect(shown.joined(separator: "|") == left)
    }
    #expect(try prune(shelf) { choice.set(&$0, lyonPlace) }.entities == 0)
  }

  @Test("what a replaced section no longer names goes when asked for, and not before")
  func unreferenced() throws {
    let shelf = try shelf()
    try shelf.persist("s", "{}", at: lyonPlace)
    #expect(try shelf.variants().count == 6)
    #expect(
      try prune(shelf) {
        $0.unreferenced = true
        $0.section = "t"
      }.entities == 0)
    let receipt = try prune(shelf) {
      $0.unreferenced = true
      $0.expired = false
    }
    // s:c is still used in Paris.
    #expect(receipt.entities == 1 && receipt.bytes == 7)
    #expect(try shelf.shown("s", at: parisPlace) == #"{"c":{"v":1},"l":{"v":2}}"#)
    #expect(try shelf.variants().count == 5)
  }

  @Test("a pruned entity is named as missing, and whole again after it is delivered again")
  func redelivery() throws {
    let shelf = try shelf()
    _ = try prune(shelf) {
      $0.expired = false
      $0.scope = .country
    }
    #expect(try shelf.catalogue.load("s", at: parisPlace)?.missing == ["s:c"])
    let receipt = try shelf.persist(
      "s", #"{"c":{"v":1,\#(tag("s:c", "country"))},"l":{"v":2,\#(tag("s:l", "locality"))}}"#, at: lyonPlace)
    #expect(receipt.saved == 1 && receipt.reused == 1)
    for location in [lyonPlace, parisPlace] {
      #expect(try shelf.shown("s", at: location) == #"{"c":{"v":1},"l":{"v":2}}"#)
      #expect(try shelf.catalogue.load("s", at: location)?.missing == [])
    }
    try shelf.expectSound()
  }

  @Test("pruning a location that has nothing of its own takes nothing of the places around it")
  func strangers() throws {
    let shelf = try Shelf(onDisk: true)
    try shelf.persist("s", #"{"c":{"v":1,\#(tag("s:c", "country"))}}"#, at: place("fr"))
    for stranger in [
      try place("fr", "bre", "Brest"), try Location(latitude: 1, longitude: 1, countryCode: "fr"),
    ] {
      let receipt = try prune(shelf) {
        $0.expired = false
        $0.location = stranger
      }
      #expect(receipt.entities == 0 && receipt.contexts == 0 && receipt.bytes == 0)
    }
    #expect(try shelf.shown("s", at: place("fr")) == #"{"c":{"v":1}}"#)
  }

  @Test("contexts that nobody used for long go, with what only they refer to; the active one stays")
  func unused() throws {
    let shelf = try shelf()
    let nice = try place("fr", "paca", "Nice")
    try shelf.persist("s", #"{"l":{"v":5,\#(tag("s:l", "locality"))}}"#, at: nice)
    try shelf.catalogue.setActiveLocation(nice)
    shelf.clock.advance(10 * hour)
    _ = try shelf.catalogue.sections(at: parisPlace)
    shelf.clock.advance(hour)
    let receipt = try prune(shelf) {
      $0.expired = false
      $0.contextsUnusedFor = 5 * hour
    }
    #expect(receipt.contexts == 1 && receipt.entities == 2 && receipt.bytes == 14)
    #expect(try shelf.catalogue.hasCached(lyonPlace) != .exact)
    #expect(try shelf.catalogue.hasCached(parisPlace) == .exact && shelf.catalogue.hasCached(nice) == .exact)
    #expect(
      try prune(shelf) {
        $0.expired = false
        $0.contextsUnusedFor = 11 * hour
      }.contexts == 0)
    #expect(
      try prune(shelf) {
        $0.expired = false
        $0.contextsUnusedFor = 0
      }.contexts == 1)
    #expect(try shelf.catalogue.hasCached(nice) == .exact)
  }

  @Test("the active location's context stays also when the device tells no more than the coordinate")
  func activeCoordinate() throws {
    let shelf = try Shelf(onDisk: true)
    let home = try Location(latitude: 45.75, longitude: 4.85, locality: "Lyon", countryCode: "fr")
    try shelf.persist("s", #"{"l":{"v":5,\#(tag("s:l", "locality"))}}"#, at: home)
    try shelf.catalogue.setActiveLocation(Location(latitude: 45.75, longitude: 4.85))
    shelf.clock.advance(10 * hour)
    #expect(
      try prune(shelf) {
        $0.expired = false
        $0.contextsUnusedFor = hour
      }.contexts == 0)
    #expect(try shelf.catalogue.hasCached(home) == .exact)
  }
}
