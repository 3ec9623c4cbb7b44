import Foundation
import Satchel
import Testing

@Suite("Variants")
struct VariantTests {
  @Test("two Springfields are two variants of one id, and each place sees its own")
  func springfield() throws {
    let shelf = try Shelf()
    let illinois = try place("us", "Illinois", "Springfield")
    let missouri = try place("us", "Missouri", "Springfield")
    let entity = { (one: Any) in #"{"items":[{"in":"\#(one)",\#(tag("cuisine:horseshoe", "locality"))}]}"# }
    #expect(try shelf.persist("cuisine", entity("IL"), at: illinois).saved == 1)
    #expect(try shelf.persist("cuisine", entity("MO"), at: missouri).saved == 1)
    #expect(try shelf.shown("cuisine", at: illinois) == #"{"items":[{"in":"IL"}]}"#)
    #expect(try shelf.shown("cuisine", at: missouri) == #"{"items":[{"in":"MO"}]}"#)
    #expect(try shelf.catalogue.entity("cuisine:horseshoe", at: missouri)?.content.text == #"{"in":"MO"}"#)
    #expect(try shelf.variants().count == 2)
    try shelf.expectSound()
  }

  @Test("two places whose keys read alike are two places")
  func oneText() throws {
    let shelf = try Shelf()
    let one = try place("us", "a_b", "c")
    let other = try place("us", "a", "b_c")
    #expect(one.key(.locality)?.text == other.key(.locality)?.text)
    try shelf.persist("s", #"{"x":{"v":1,\#(tag("s:1", "locality"))}}"#, at: one)
    try shelf.persist("s", #"{"x":{"v":2,\#(tag("s:1", "locality"))}}"#, at: other)
    #expect(try shelf.shown("s", at: one) == #"{"x":{"v":1}}"#)
    #expect(try shelf.shown("s", at: other) == #"{"x":{"v":2}}"#)
  }

  @Test(
    "there is one copy for each key of the scope",
    arguments: [
      ("global", 1), ("country", 2), ("adminarea", 3), ("locality", 4), ("Global", 1), ("COUNTRY", 2),
    ])
  func copies(scope: String, expected: Int) throws {
    let shelf = try Shelf()
    let places = [
      try place("fr", "ara", "Lyon"), try place("fr", "ara", "Vienne"), try place("fr", "idf", "Paris"),
      try place("at", "wien", "Wien"),
    ]
    for (position, here) in (places + places).enumerated() {
      let receipt = try shelf.persist("s", #"{"x":{"v":1,\#(tag("s:1", scope))}}"#, at: here)
      #expect(receipt.saved + receipt.reused == 1)
      if position >= places.count { #expect(receipt.reused == 1) }
    }
    #expect(try shelf.variants().count == expected)
    try shelf.expectSound()
  }

  @Test("a scope that the location has no key for stays inline and is reported: Singapore has no admin area")
  func singapore() throws {
    let shelf = try Shelf()
    let here = try place("sg", "", "Singapore")
    let receipt = try shelf.persist(
      "s", #"{"a/b":{"v":1,\#(tag("s:1", "adminarea"))},"l":{"v":2,\#(tag("s:2", "locality"))}}"#, at: here)
    #expect(receipt.saved == 1 && receipt.inline == 1)
    #expect(receipt.problems.map(\.pointer) == ["/content/a~1b/_storage/scope"])
    #expect(try shelf.shown("s", at: here) == #"{"a/b":{"v":1},"l":{"v":2}}"#)
    #expect(try shelf.catalogue.entity("s:1", at: here) == nil)
  }

  @Test(
    "what is wrong with a tag is said, with its place",
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
    let shelf = try Shelf()
    let here = try place("fr")
    let receipt = try shelf.persist("s", #"{"items":[{"ok":1},{"v":1,"_storage":\#(stated)}]}"#, at: here)
    #expect(receipt.saved == 0 && receipt.bytes > 0)
    #expect(receipt.problems.map(\.pointer) == ["/content/items/1/_storage" + member])
    #expect(receipt.problems.allSatisfy { !$0.reason.isEmpty })
    #expect(try shelf.shown("s", at: here) == #"{"items":[{"ok":1},{"v":1}]}"#)
    try shelf.expectSound()
  }

  @Test("pointers of a delivery begin at its root")
  func deliveryPointer() throws {
    let shelf = try Shelf()
    let sections = [
      Shelf.section("a", "{}"), Shelf.section("b", #"{"x":{"_storage":1}}"#),
    ].joined(separator: ",")
    let text = #"{"location":{"country_code":"fr"},"sections":[\#(sections)]}"#
    let receipts = try Array(text.utf8).withUnsafeBytes { try shelf.catalogue.deliver($0) }
    #expect(receipts.map(\.section) == ["a", "b"])
    #expect(receipts[1].problems.map(\.pointer) == ["/sections/1/content/x/_storage"])
  }

  @Test("a receipt counts saved, updated, reused, inline and bytes")
  func receipt() throws {
    let shelf = try Shelf()
    let here = try place("fr")
    let entity = { (one: Any, two: Any) in #""\#(one)":{"v":"\#(two)",\#(tag("s:\(one)", "country"))}"# }
    let first = try shelf.persist("s", "{\(entity("a", "1")),\(entity("b", "1"))}", at: here)
    // Two bodies {"v":"1"}, and what is left: {"a":0,"b":0}.
    #expect(first.saved == 2 && first.updated == 0 && first.reused == 0 && first.inline == 0)
    #expect(first.bytes == 9 * 2 + 13 && first.sharedBytes == 0)
    let second = try shelf.persist(
      "s", "{\(entity("a", "1")),\(entity("b", "22")),\(entity("c", "3")),\"d\":{\"e\":1},\"f\":2}", at: here)
    #expect(second.saved == 1 && second.updated == 1 && second.reused == 1 && second.inline == 1)
    #expect(second.sharedBytes == 9)
    let elsewhere = try shelf.persist("t", "{\(entity("b", "22"))}", at: place("fr", "ara"))
    #expect(elsewhere.reused == 1 && elsewhere.sharedBytes == 10)
    try shelf.expectSound()
  }

  @Test("an update elsewhere is seen by all who share the variant")
  func shared() throws {
    let shelf = try Shelf()
    let (lyon, paris) = (try place("fr", "ara", "Lyon"), try place("fr", "idf", "Paris"))
    try shelf.persist("s", #"{"x":{"v":1,\#(tag("s:1", "country"))}}"#, at: lyon)
    #expect(try shelf.persist("s", #"{"x":{"v":2,\#(tag("s:1", "country"))}}"#, at: paris).updated == 1)
    #expect(try shelf.shown("s", at: lyon) == #"{"x":{"v":2}}"#)
    #expect(try shelf.variants().count == 1)
  }

  @Test("until_expiry keeps a fresh copy untouched, and takes the new one when it has expired")
  func untilExpiry() throws {
    let shelf = try Shelf()
    let here = try place("fr")
    let entity = { (one: Any) in #"{"x":{"v":\#(one),\#(tag("s:1", "country", hours: "10"))}}"# }
    try shelf.persist("s", entity(1), at: here)
    let expiry = try shelf.catalogue.entity("s:1", at: here)?.expiresAt
    shelf.clock.advance(10 * hour - 1)
    let kept = try shelf.persist("s", entity(2), at: here, reuse: .untilExpiry)
    #expect(kept.reused == 1 && kept.sharedBytes == 7)
    #expect(try shelf.shown("s", at: here) == #"{"x":{"v":1}}"#)
    #expect(try shelf.catalogue.entity("s:1", at: here)?.expiresAt == expiry)
    shelf.clock.advance(1)
    #expect(try shelf.persist("s", entity(3), at: here, reuse: .untilExpiry).updated == 1)
    #expect(try shelf.shown("s", at: here) == #"{"x":{"v":3}}"#)
  }

  @Test("the same content again renews the expiry, and leaves the time of the update")
  func renewal() throws {
    let shelf = try Shelf()
    let here = try place("fr")
    let content = #"{"x":{"v":1,\#(tag("s:1", "country", hours: "10"))}}"#
    try shelf.persist("s", content, at: here)
    let start = shelf.clock.now
    shelf.clock.advance(9 * hour)
    #expect(try shelf.persist("s", content, at: here).reused == 1)
    let entity = try #require(try shelf.catalogue.entity("s:1", at: here))
    #expect(entity.expiresAt == start + 19 * hour)
    #expect(entity.updatedAt == start)
    // Also to an earlier time, which pruning must notice.
    try shelf.persist("s", content.replacingOccurrences(of: ":10}", with: ":1}"), at: here)
    #expect(try shelf.catalogue.entity("s:1", at: here)?.expiresAt == start + 10 * hour)
    shelf.clock.advance(hour)
    #expect(try shelf.catalogue.prune().entities == 1)
  }

  @Test(
    "times to live of every size",
    arguments: [
      (nil, 168 * 3_600_000), ("24", 86_400_000), ("0.5", 1_800_000), ("2.3", 8_280_000), ("2.01", 7_236_000),
      ("1e-3", 3_600), ("1E1", 36_000_000), ("-0", 0), ("0.0", 0),
    ] as [(String?, Int64)])
  func timeToLive(stated: String?, milliseconds: Int64) throws {
    let shelf = try Shelf()
    let here = try place("fr")
    try shelf.persist("s", #"{"x":{"v":1,\#(tag("s:1", "country", hours: stated))}}"#, at: here)
    let entity = try #require(try shelf.catalogue.entity("s:1", at: here))
    #expect(entity.expiresAt == shelf.clock.now + milliseconds)
    #expect(try shelf.shown("s", at: here) == (milliseconds > 0 ? #"{"x":{"v":1}}"# : "{}"))
    #expect(try shelf.catalogue.load("s", at: here)?.expired == (milliseconds > 0 ? [] : ["s:1"]))
  }

  @Test("an absurdly long life ends some day", arguments: ["1e300", "9223372036854775807", "1e18"])
  func absurd(hours: String) throws {
    let shelf = try Shelf(clock: SettableClock(Int64.max))
    let here = try place("fr")
    try shelf.persist("s", #"{"x":{"v":1,\#(tag("s:1", "country", hours: hours))}}"#, at: here)
    let entity = try #require(try shelf.catalogue.entity("s:1", at: here))
    #expect(entity.expiresAt > entity.updatedAt + 100 * 366 * 24 * hour)
    #expect(try shelf.catalogue.plan(for: here).first?.plan.fresh == ["s:1"])
    try shelf.expectSound()
  }

  @Test("an entity is named by local_name, title, name, its key, or its id")
  func displayNames() throws {
    let shelf = try Shelf()
    let here = try place("fr")
    let entity = { (one: Any, two: Any) in #"{\#(one)\#(tag("s:\(two)", "global"))}"# }
    let keyed = [
      entity(#""name":"N","title":"T","local_name":"L","#, 1), entity(#""name":"N","title":"T","#, 2),
      entity(#""name":"N","title":5,"#, 3), entity(#""name":"","#, 4),
    ].enumerated().map { #""key \#($0)":\#($1)"# }.joined(separator: ",")
    try shelf.persist("s", #"{\#(keyed),"items":[\#(entity("", 5))]}"#, at: here)
    let names = try (1...5).map { try shelf.catalogue.entity("s:\($0)", at: here)?.displayName }
    #expect(names == ["L", "T", "N", "key 3", "s:5"])
  }

  @Test("coordinate variants are shared within the rounded coordinate only")
  func coordinates() throws {
    let shelf = try Shelf()
    let here = try Location(latitude: 48.85661, longitude: 2.35222, countryCode: "fr")
    let beside = try Location(latitude: 48.85662, longitude: 2.35221, countryCode: "fr")
    let away = try Location(latitude: 48.8568, longitude: 2.3522, countryCode: "fr")
    let content = #"{"x":{"v":1,\#(tag("s:1", "coordinate"))}}"#
    #expect(try shelf.persist("s", content, at: here).saved == 1)
    #expect(try shelf.persist("s", content, at: beside).reused == 1)
    #expect(try shelf.persist("s", content, at: away).saved == 1)
    #expect(try shelf.variants().count == 2)
  }
}
