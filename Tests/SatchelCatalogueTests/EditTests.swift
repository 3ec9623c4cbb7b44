import Foundation
import Satchel
import Testing

@Suite("Edits")
struct EditTests {
  private static let start =
    #"{"title":"T","x":{"v":1,"list":[1],\#(tag("s:x", "country", hours: "10"))},"y":{"v":2,\#(tag("s:y", "country", hours: "20"))},"z":[{"id":"p","n":1},{"id":"q","n":1}]}"#

  private func fixture() throws -> (CatalogueFixture, Location) {
    let (fixture, here) = (try CatalogueFixture(), try place("fr", "ara", "Lyon"))
    try fixture.persist("s", Self.start, at: here, config: #"{"render":"card","deep":{"a":1}}"#)
    return (fixture, here)
  }

  @Test(
    "every operation applies to the section's content",
    arguments: [
      (
        #"{"operation":"merge"}"#, #"{"title":"U","new":{"k":null}}"#,
        #"{"title":"U","x":{"v":1,"list":[1]},"y":{"v":2},"z":[{"id":"p","n":1},{"id":"q","n":1}],"new":{"k":null}}"#
      ),
      (
        "null", #"{"x":{"v":9}}"#,
        #"{"title":"T","x":{"v":9,"list":[1]},"y":{"v":2},"z":[{"id":"p","n":1},{"id":"q","n":1}]}"#
      ),
      (
        #"{"operation":"append","target_path":"x.list"}"#, "[2,3]",
        #"{"title":"T","x":{"v":1,"list":[1,2,3]},"y":{"v":2},"z":[{"id":"p","n":1},{"id":"q","n":1}]}"#
      ),
      (
        #"{"operation":"append","target_path":"/z"}"#, #"{"id":"r"}"#,
        #"{"title":"T","x":{"v":1,"list":[1]},"y":{"v":2},"z":[{"id":"p","n":1},{"id":"q","n":1},{"id":"r"}]}"#
      ),
      (
        #"{"operation":"remove","target_path":"z","match":{"id":"p"}}"#, "null",
        #"{"title":"T","x":{"v":1,"list":[1]},"y":{"v":2},"z":[{"id":"q","n":1}]}"#
      ),
      (#"{"operation":"merge_patch"}"#, #"{"x":null,"z":null}"#, #"{"title":"T","y":{"v":2}}"#),
      (
        #"{"operation":"patch"}"#, #"[{"op":"remove","path":"/x"},{"op":"replace","path":"/z","value":0}]"#,
        #"{"title":"T","y":{"v":2},"z":0}"#
      ),
      (
        #"{"operation":"patch","target_path":"x"}"#,
        #"[{"op":"test","path":"/v","value":1},{"op":"add","path":"/list/0","value":0}]"#,
        #"{"title":"T","x":{"v":1,"list":[0,1]},"y":{"v":2},"z":[{"id":"p","n":1},{"id":"q","n":1}]}"#
      ),
    ])
  func operations(config: String, content: String, expected: String) throws {
    let (fixture, here) = try fixture()
    let receipt = try fixture.edit("s", config, content, at: here)
    #expect(receipt.problems.isEmpty)
    #expect(try fixture.shown("s", at: here) == expected)
    try fixture.expectSound()
    let kept = try #require(try fixture.catalogue.load("s", at: here)).content
    for (key, id) in [("x", "s:x"), ("y", "s:y")] where kept[key] != nil {
      #expect(try fixture.catalogue.entity(id, at: here)?.content == kept[key])
    }
  }

  @Test("an entity that is edited without its _storage keeps its identity; the others keep their expiry")
  func identity() throws {
    let (fixture, here) = try fixture()
    let start = fixture.clock.now
    fixture.clock.advance(hour)
    let receipt = try fixture.edit("s", "null", #"{"x":{"v":9}}"#, at: here)
    #expect(receipt.updated == 1 && receipt.reused == 1 && receipt.saved == 0)
    #expect(try fixture.catalogue.entity("s:x", at: here)?.expiresAt == start + 11 * hour)
    #expect(try fixture.catalogue.entity("s:y", at: here)?.expiresAt == start + 20 * hour)
    #expect(try fixture.variants().count == 2)
    // An entity that the edit contains counts as delivered.
    try fixture.edit("s", "null", #"{"y":{"v":2,\#(tag("s:y", "country", hours: "20"))}}"#, at: here)
    #expect(try fixture.catalogue.entity("s:y", at: here)?.expiresAt == start + 21 * hour)
  }

  @Test(
    "an entity keeps its time to live through edits, to the millisecond",
    arguments: ["8.2", "2.3", "0.0123", "7.77"])
  func life(hours: String) throws {
    let (fixture, here) = (try CatalogueFixture(), try place("fr"))
    let expected = Int64(((Double(hours) ?? 0) * 3_600_000).rounded())
    try fixture.persist("s", #"{"x":{"v":0,\#(tag("s:x", "country", hours: hours))}}"#, at: here)
    for round in 1...5 {
      try fixture.edit("s", "null", #"{"x":{"v":\#(round)}}"#, at: here)
      #expect(try fixture.catalogue.entity("s:x", at: here)?.expiresAt == fixture.clock.now + expected)
    }
  }

  @Test("an expired entity stays expired through an edit")
  func expired() throws {
    let (fixture, here) = try fixture()
    let start = fixture.clock.now
    fixture.clock.advance(15 * hour)
    try fixture.edit("s", "null", #"{"title":"U"}"#, at: here)
    let loaded = try #require(try fixture.catalogue.load("s", at: here))
    #expect(loaded.expired == ["s:x"] && loaded.content["x"] == nil && loaded.content["y"] != nil)
    #expect(try fixture.catalogue.entity("s:x", at: here)?.expiresAt == start + 10 * hour)
    #expect(
      try fixture.catalogue.load("s", at: here, allowExpired: true)?.content["x"]?.text
        == #"{"v":1,"list":[1]}"#)
    try fixture.expectSound()
  }

  @Test("an expired and pruned entity is still missing after an edit")
  func prunedBefore() throws {
    let (fixture, here) = try fixture()
    fixture.clock.advance(15 * hour)
    #expect(try fixture.catalogue.prune().entities == 1)
    try fixture.edit("s", "null", #"{"title":"U"}"#, at: here)
    #expect(try fixture.catalogue.plan(for: here).first?.plan.missing == ["s:x"])
  }

  @Test(
    "an edit that fails changes nothing",
    arguments: [
      (#"{"operation":"fly"}"#, "{}"), (#"{"operation":"remove","target_path":"z","match":{}}"#, "null"),
      (#"{"operation":"remove","target_path":"title","match":{"a":1}}"#, "null"),
      (#"{"operation":"append","target_path":"title.x"}"#, "1"),
      (#"{"operation":"patch"}"#, #"[{"op":"remove","path":"/none"}]"#),
      (
        #"{"operation":"patch"}"#,
        #"[{"op":"remove","path":"/x"},{"op":"test","path":"/title","value":"no"}]"#
      ),
      (#"{"operation":5}"#, "{}"), (#"{"operation":"patch"}"#, "{}"), (#"{"target_path":"/bad~2"}"#, "{}"),
    ])
  func failure(config: String, content: String) throws {
    let (fixture, here) = try fixture()
    let before = try fixture.dump()
    fixture.clock.advance(hour)
    let error = #expect(throws: SatchelError.self) { try fixture.edit("s", config, content, at: here) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("section s") == true)
    #expect(try fixture.dump() == before)
  }

  @Test("a delivery with a failing edit changes nothing")
  func deliveryFailure() throws {
    let (fixture, _) = try fixture()
    let before = try fixture.dump()
    let sections = [
      CatalogueFixture.section("new", #"{"n":{"v":1,\#(tag("n:1", "global"))}}"#),
      CatalogueFixture.section(
        "s", "1", config: #"{"operation":"append","target_path":"title.x"}"#, action: "edit"),
    ].joined(separator: ",")
    let text =
      #"{"location":{"country_code":"fr","admin_area":"ara","locality":"Lyon"},"sections":[\#(sections)]}"#
    #expect(throws: SatchelError.self) {
      try Array(text.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0) }
    }
    #expect(try fixture.dump() == before)
  }

  @Test("an edit of a section that does not exist starts with empty content")
  func nothingThere() throws {
    let (fixture, here) = try fixture()
    try fixture.edit(
      "new", #"{"operation":"append","target_path":"items"}"#, #"{"v":1,\#(tag("n:1", "country"))}"#, at: here
    )
    #expect(try fixture.shown("new", at: here) == #"{"items":[{"v":1}]}"#)
    #expect(try fixture.catalogue.entity("n:1", at: here) != nil)
    #expect(try fixture.catalogue.sections(at: here).map(\.section) == ["s", "new"])
  }

  @Test("an edit of an inherited section makes it the location's own, and shares the entities")
  func inherited() throws {
    let (fixture, here) = try fixture()
    let paris = try place("fr", "idf", "Paris")
    let receipt = try fixture.edit("s", "null", #"{"more":1,"y":{"v":5}}"#, at: paris)
    #expect(receipt.reused == 1 && receipt.updated == 1 && receipt.saved == 0)
    #expect(try fixture.catalogue.hasCached(paris) == .exact)
    #expect(try fixture.shown("s", at: paris) == #"{"x":{"v":1,"list":[1]},"y":{"v":5},"more":1}"#)
    // The title and z have no _storage: they stay in Lyon, which shares y.
    #expect(try fixture.catalogue.load("s", at: here)?.content["y"]?.text == #"{"v":5}"#)
    #expect(try fixture.catalogue.load("s", at: here)?.content["title"] == "T")
    #expect(try fixture.variants().count == 2)
    try fixture.expectSound()
  }

  @Test("a member of an edit's config that is no option is a problem in the receipt, and kept in the config")
  func unknownMembers() throws {
    let (fixture, here) = try fixture()
    let receipt = try fixture.edit(
      "s", #"{"operation":"merge","targetPath":"x","a/b":1}"#, #"{"v":3}"#, at: here)
    #expect(receipt.problems.map(\.pointer) == ["/config/targetPath", "/config/a~1b"])
    #expect(receipt.problems.allSatisfy { $0.reason.contains("operation, target_path, match") })
    #expect(try fixture.catalogue.load("s", at: here)?.content["v"] == 3)
    #expect(try fixture.catalogue.sections(at: here).first?.config["targetPath"] == "x")
  }

  @Test("the title and the config stay unless the edit has new ones")
  func config() throws {
    let (fixture, here) = try fixture()
    try fixture.edit("s", #"{"operation":"merge","target_path":"x"}"#, #"{"v":3}"#, at: here)
    #expect(
      try fixture.catalogue.sections(at: here).first?.config.text == #"{"render":"card","deep":{"a":1}}"#)
    try fixture.edit("s", #"{"operation":"merge","match":{"a":1},"deep":{"b":2}}"#, "{}", at: here)
    #expect(
      try fixture.catalogue.sections(at: here).first?.config.text
        == #"{"render":"card","deep":{"a":1,"b":2}}"#)
    let bare = #"{"section":"s","action":"edit","content":{"title":"V"}}"#
    try Array(bare.utf8).withUnsafeBytes { _ = try fixture.catalogue.persist($0, at: here) }
    #expect(try fixture.catalogue.sections(at: here).first?.displayTitle == "Title of s")
    #expect(try fixture.catalogue.load("s", at: here)?.content["title"] == "V")
  }

  @Test(
    "any content can be edited, and an edit without changes keeps the visible content",
    arguments: 0..<4)
  func anyContent(seed: Int) throws {
    var generator = ContentGenerator(seed: UInt64(seed) + 100)
    let fixture = try CatalogueFixture()
    let here = try Location(latitude: 1.5, longitude: 2.5, locality: "L", adminArea: "A", countryCode: "C")
    for _ in 0..<150 {
      let content = generator.content()
      try fixture.persist("any", content, at: here)
      let before = try fixture.shown("any", at: here, allowExpired: true)
      let plan = try fixture.catalogue.plan(for: here).map(\.plan)
      let receipt = try fixture.edit("any", #"{"operation":"patch"}"#, "[]", at: here)
      #expect(try fixture.shown("any", at: here, allowExpired: true) == before, "\(content)")
      #expect(receipt.saved == 0 && receipt.updated == 0, "\(content)")
      #expect(try fixture.catalogue.plan(for: here).map(\.plan) == plan, "\(content)")
      try fixture.expectSound()
    }
  }
}
