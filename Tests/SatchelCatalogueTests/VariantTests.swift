import Foundation
import Satchel
import Testing

@Suite("Variants")
struct VariantTests {
  @Test("two Springfields are two variants of one id, and each place sees its own")
  func springfield() throws {
    let fixture = try CatalogueFixture()
    let illinois = try place("us", "Illinois", "Springfield")
    let missouri = try place("us", "Missouri", "Springfield")
    let entity = { (one: Any) in #"{"items":[{"in":"\#(one)",\#(tag("cuisine:horseshoe", "locality"))}]}"# }
    #expect(try fixture.persist("cuisine", entity("IL"), at: illinois).saved == 1)
    #expect(try fixture.persist("cuisine", entity("MO"), at: missouri).saved == 1)
    #expect(try fixture.shown("cuisine", at: illinois) == #"{"items":[{"in":"IL"}]}"#)
    #expect(try fixture.shown("cuisine", at: missouri) == #"{"items":[{"in":"MO"}]}"#)
    #expect(try fixture.catalogue.entity("cuisine:horseshoe", at: missouri)?.content.text == #"{"in":"MO"}"#)
    #expect(try fixture.variants().count == 2)
    try fixture.expectSound()
  }

  @Test("two places with the same key text are two places")
  func oneText() throws {
    let fixture = try CatalogueFixture()
    let one = try place("us", "a_b", "c")
    let other = try place("us", "a", "b_c")
    #expect(one.key(.locality)?.text == other.key(.locality)?.text)
    try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:1", "locality"))}}"#, at: one)
    try fixture.persist("s", #"{"x":{"v":2,\#(tag("s:1", "locality"))}}"#, at: other)
    #expect(try fixture.shown("s", at: one) == #"{"x":{"v":1}}"#)
    #expect(try fixture.shown("s", at: other) == #"{"x":{"v":2}}"#)
  }

  @Test(
    "there is one copy for each key of the scope",
    arguments: [
      ("global", 1), ("country", 2), ("adminarea", 3), ("locality", 4), ("Global", 1), ("COUNTRY", 2),
    ])
  func copies(scope: String, expected: Int) throws {
    let fixture = try CatalogueFixture()
    let places = [
      try place("fr", "ara", "Lyon"), try place("fr", "ara", "Vienne"), try place("fr", "idf", "Paris"),
      try place("at", "wien", "Wien"),
    ]
    for (position, here) in (places + places).enumerated() {
      let receipt = try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:1", scope))}}"#, at: here)
      #expect(receipt.saved + receipt.reused == 1)
      if position >= places.count { #expect(receipt.reused == 1) }
    }
    #expect(try fixture.variants().count == expected)
    try fixture.expectSound()
  }

  @Test("a scope that the location has no key for stays inline and is reported: Singapore has no admin area")
  func singapore() throws {
    let fixture = try CatalogueFixture()
    let here = try place("sg", "", "Singapore")
    let receipt = try fixture.persist(
      "s", #"{"a/b":{"v":1,\#(tag("s:1", "adminarea"))},"l":{"v":2,\#(tag("s:2", "locality"))}}"#, at: here)
    #expect(receipt.saved == 1 && receipt.inline == 1)
    #expect(receipt.problems.map(\.pointer) == ["/content/a~1b/_storage/scope"])
    #expect(try fixture.shown("s", at: here) == #"{"a/b":{"v":1},"l":{"v":2}}"#)
    #expect(try fixture.catalogue.entity("s:1", at: here) == nil)
  }

  @Test(
    "problems of a tag are reported with their pointers",
    arguments: [
      ("null", ""), ("[]", ""), ("5", ""), ("{}", ""), (#"{"scope":"global"}"#, ""),
      (#"{"entity_id":"x"}"#, ""),
      (#"{"entity_id":7,"scope":"global"}"#, "/entity_id"),
      (#"{"entity_id":"","scope":"global"}"#, "/entity_id"),
      (#"{"entity_id":"x","scope":"moon"}"#, "/scope"), (#"{"entity_id":"x","scope":null}"#, "/scope"),
      (#"{"entity_id":"x","scope":"global","ttl_hours":-0.5}"#, "/ttl_hours"),
      (#"{"entity_id":"x","scope":"global","ttl_hours":"24"}"#, "/ttl_hours"),
      (#"{"entity_id":"x","scope":"global","ttl_hours":[1]}"#, "/ttl_hours"),
    ])
  func badTags(stated: String, member: String) throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let receipt = try fixture.persist("s", #"{"items":[{"ok":1},{"v":1,"_storage":\#(stated)}]}"#, at: here)
    #expect(receipt.saved == 0 && receipt.bytes > 0)
    #expect(receipt.problems.map(\.pointer) == ["/content/items/1/_storage" + member])
    #expect(receipt.problems.allSatisfy { !$0.reason.isEmpty })
    #expect(try fixture.shown("s", at: here) == #"{"items":[{"ok":1},{"v":1}]}"#)
    try fixture.expectSound()
  }

  @Test("pointers of a delivery start at its root")
  func deliveryPointer() throws {
    let fixture = try CatalogueFixture()
    let sections = [
      CatalogueFixture.section("a", "{}"), CatalogueFixture.section("b", #"{"x":{"_storage":1}}"#),
    ].joined(separator: ",")
    let text = #"{"location":{"country_code":"fr"},"sections":[\#(sections)]}"#
    let receipts = try Array(text.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0) }
    #expect(receipts.map(\.section) == ["a", "b"])
    #expect(receipts[1].problems.map(\.pointer) == ["/sections/1/content/x/_storage"])
  }

  @Test("a receipt counts saved, updated, reused, inline and bytes")
  func receipt() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let entity = { (one: Any, two: Any) in #""\#(one)":{"v":"\#(two)",\#(tag("s:\(one)", "country"))}"# }
    let first = try fixture.persist("s", "{\(entity("a", "1")),\(entity("b", "1"))}", at: here)
    // Two bodies {"v":"1"}, and the template: {"a":0,"b":0}.
    #expect(first.saved == 2 && first.updated == 0 && first.reused == 0 && first.inline == 0)
    #expect(first.bytes == 9 * 2 + 13 && first.sharedBytes == 0)
    let second = try fixture.persist(
      "s", "{\(entity("a", "1")),\(entity("b", "22")),\(entity("c", "3")),\"d\":{\"e\":1},\"f\":2}", at: here)
    #expect(second.saved == 1 && second.updated == 1 && second.reused == 1 && second.inline == 1)
    #expect(second.sharedBytes == 9)
    let elsewhere = try fixture.persist("t", "{\(entity("b", "22"))}", at: place("fr", "ara"))
    #expect(elsewhere.reused == 1 && elsewhere.sharedBytes == 10)
    try fixture.expectSound()
  }

  @Test("an update from another place is visible at all places that share the variant")
  func shared() throws {
    let fixture = try CatalogueFixture()
    let (lyon, paris) = (try place("fr", "ara", "Lyon"), try place("fr", "idf", "Paris"))
    try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:1", "country"))}}"#, at: lyon)
    #expect(try fixture.persist("s", #"{"x":{"v":2,\#(tag("s:1", "country"))}}"#, at: paris).updated == 1)
    #expect(try fixture.shown("s", at: lyon) == #"{"x":{"v":2}}"#)
    #expect(try fixture.variants().count == 1)
  }

  @Test("until_expiry keeps a fresh copy unchanged, and replaces an expired one")
  func untilExpiry() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let entity = { (one: Any) in #"{"x":{"v":\#(one),\#(tag("s:1", "country", hours: "10"))}}"# }
    try fixture.persist("s", entity(1), at: here)
    let expiry = try fixture.catalogue.entity("s:1", at: here)?.expiresAt
    fixture.clock.advance(10 * hour - 1)
    let kept = try fixture.persist("s", entity(2), at: here, reuse: .untilExpiry)
    #expect(kept.reused == 1 && kept.sharedBytes == 7)
    #expect(try fixture.shown("s", at: here) == #"{"x":{"v":1}}"#)
    #expect(try fixture.catalogue.entity("s:1", at: here)?.expiresAt == expiry)
    fixture.clock.advance(1)
    #expect(try fixture.persist("s", entity(3), at: here, reuse: .untilExpiry).updated == 1)
    #expect(try fixture.shown("s", at: here) == #"{"x":{"v":3}}"#)
  }

  @Test("the same content renews the expiry, and keeps the time of the update")
  func renewal() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let content = #"{"x":{"v":1,\#(tag("s:1", "country", hours: "10"))}}"#
    try fixture.persist("s", content, at: here)
    let start = fixture.clock.now
    fixture.clock.advance(9 * hour)
    #expect(try fixture.persist("s", content, at: here).reused == 1)
    let entity = try #require(try fixture.catalogue.entity("s:1", at: here))
    #expect(entity.expiresAt == start + 19 * hour)
    #expect(entity.updatedAt == start)
    // Also to an earlier time, which pruning must respect.
    try fixture.persist("s", content.replacingOccurrences(of: ":10}", with: ":1}"), at: here)
    #expect(try fixture.catalogue.entity("s:1", at: here)?.expiresAt == start + 10 * hour)
    fixture.clock.advance(hour)
    #expect(try fixture.catalogue.prune().entities == 1)
  }

  @Test(
    "times to live of every size",
    arguments: [
      (nil, 168 * 3_600_000), ("24", 86_400_000), ("0.5", 1_800_000), ("2.3", 8_280_000), ("2.01", 7_236_000),
      ("1e-3", 3_600), ("1E1", 36_000_000), ("-0", 0), ("0.0", 0),
    ] as [(String?, Int64)])
  func timeToLive(stated: String?, milliseconds: Int64) throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:1", "country", hours: stated))}}"#, at: here)
    let entity = try #require(try fixture.catalogue.entity("s:1", at: here))
    #expect(entity.expiresAt == fixture.clock.now + milliseconds)
    #expect(try fixture.shown("s", at: here) == (milliseconds > 0 ? #"{"x":{"v":1}}"# : "{}"))
    #expect(try fixture.catalogue.load("s", at: here)?.expired == (milliseconds > 0 ? [] : ["s:1"]))
  }

  @Test("a very long time to live is limited", arguments: ["1e300", "9223372036854775807", "1e18"])
  func absurd(hours: String) throws {
    let fixture = try CatalogueFixture(clock: SettableClock(Int64.max))
    let here = try place("fr")
    try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:1", "country", hours: hours))}}"#, at: here)
    let entity = try #require(try fixture.catalogue.entity("s:1", at: here))
    #expect(entity.expiresAt > entity.updatedAt + 100 * 366 * 24 * hour)
    #expect(try fixture.catalogue.plan(for: here).first?.plan.fresh == ["s:1"])
    try fixture.expectSound()
  }

  @Test("an entity's display name is local_name, title, name, its key, or its id")
  func displayNames() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let entity = { (one: Any, two: Any) in #"{\#(one)\#(tag("s:\(two)", "global"))}"# }
    let keyed = [
      entity(#""name":"N","title":"T","local_name":"L","#, 1), entity(#""name":"N","title":"T","#, 2),
      entity(#""name":"N","title":5,"#, 3), entity(#""name":"","#, 4),
    ].enumerated().map { #""key \#($0)":\#($1)"# }.joined(separator: ",")
    try fixture.persist("s", #"{\#(keyed),"items":[\#(entity("", 5))]}"#, at: here)
    let names = try (1...5).map { try fixture.catalogue.entity("s:\($0)", at: here)?.displayName }
    #expect(names == ["L", "T", "N", "key 3", "s:5"])
  }

  @Test("coordinate variants are shared within the rounded coordinate only")
  func coordinates() throws {
    let fixture = try CatalogueFixture()
    let here = try Location(latitude: 48.85661, longitude: 2.35222, countryCode: "fr")
    let beside = try Location(latitude: 48.85662, longitude: 2.35221, countryCode: "fr")
    let away = try Location(latitude: 48.8568, longitude: 2.3522, countryCode: "fr")
    let content = #"{"x":{"v":1,\#(tag("s:1", "coordinate"))}}"#
    #expect(try fixture.persist("s", content, at: here).saved == 1)
    #expect(try fixture.persist("s", content, at: beside).reused == 1)
    #expect(try fixture.persist("s", content, at: away).saved == 1)
    #expect(try fixture.variants().count == 2)
  }
}
