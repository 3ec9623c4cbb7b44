import Foundation
import Satchel
import Testing

@Suite("Edits")
struct EditTests {
  private static let start =
    #"{"title":"T","x":{"v":1,"list":[1],\#(tag("s:x", "country", hours: "10"))},"y":{"v":2,\#(tag("s:y", "country", hours: "20"))},"z":[{"id":"p","n":1},{"id":"q","n":1}]}"#

  private func shelf() throws -> (Shelf, Location) {
    let (shelf, here) = (try Shelf(), try place("fr", "ara", "Lyon"))
    try shelf.persist("s", Self.start, at: here, config: #"{"render":"card","deep":{"a":1}}"#)
    return (shelf, here)
  }

  @Test(
    "every operation, on what the section holds",
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
    let (shelf, here) = try shelf()
    let receipt = try shelf.edit("s", config, content, at: here)
    #expect(receipt.problems.isEmpty)
    #expect(try shelf.shown("s", at: here) == expected)
    try shelf.expectSound()
    let kept = try #require(try shelf.catalogue.load("s", at: here)).content
    for (key, id) in [("x", "s:x"), ("y", "s:y")] where kept[key] != nil {
      #expect(try shelf.catalogue.entity(id, at: here)?.content == kept[key])
    }
  }

  @Test("an entity that is edited without its _storage keeps its identity; the others keep their expiry")
  func identity() throws {
    let (shelf, here) = try shelf()
    let start = shelf.clock.now
    shelf.clock.advance(hour)
    let receipt = try shelf.edit("s", "null", #"{"x":{"v":9}}"#, at: here)
    #expect(receipt.updated == 1 && receipt.reused == 1 && receipt.saved == 0)
    #expect(try shelf.catalogue.entity("s:x", at: here)?.expiresAt == start + 11 * hour)
    #expect(try shelf.catalogue.entity("s:y", at: here)?.expiresAt == start + 20 * hour)
    #expect(try shelf.variants().count == 2)
    // One that the edit names is as good as delivered.
    try shelf.edit("s", "null", #"{"y":{"v":2,\#(tag("s:y", "country", hours: "20"))}}"#, at: here)
    #expect(try shelf.catalogue.entity("s:y", at: here)?.expiresAt == start + 21 * hour)
  }

  @Test(
    "an entity keeps its time to live through edits, to the millisecond",
    arguments: ["8.2", "2.3", "0.0123", "7.77"])
  func life(hours: String) throws {
    let (shelf, here) = (try Shelf(), try place("fr"))
    let expected = Int64(((Double(hours) ?? 0) * 3_600_000).rounded())
    try shelf.persist("s", #"{"x":{"v":0,\#(tag("s:x", "country", hours: hours))}}"#, at: here)
    for round in 1...5 {
      try shelf.edit("s", "null", #"{"x":{"v":\#(round)}}"#, at: here)
      #expect(try shelf.catalogue.entity("s:x", at: here)?.expiresAt == shelf.clock.now + expected)
    }
  }

  @Test("what has expired stays through an edit, expired as it was")
  func expired() throws {
    let (shelf, here) = try shelf()
    let start = shelf.clock.now
    shelf.clock.advance(15 * hour)
    try shelf.edit("s", "null", #"{"title":"U"}"#, at: here)
    let loaded = try #require(try shelf.catalogue.load("s", at: here))
    #expect(loaded.expired == ["s:x"] && loaded.content["x"] == nil && loaded.content["y"] != nil)
    #expect(try shelf.catalogue.entity("s:x", at: here)?.expiresAt == start + 10 * hour)
    #expect(
      try shelf.catalogue.load("s", at: here, allowExpired: true)?.content["x"]?.text
        == #"{"v":1,"list":[1]}"#)
    try shelf.expectSound()
  }

  @Test("what has expired and was pruned is still named as missing after an edit")
  func prunedBefore() throws {
    let (shelf, here) = try shelf()
    shelf.clock.advance(15 * hour)
    #expect(try shelf.catalogue.prune().entities == 1)
    try shelf.edit("s", "null", #"{"title":"U"}"#, at: here)
    #expect(try shelf.catalogue.plan(for: here).first?.plan.missing == ["s:x"])
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
    let (shelf, here) = try shelf()
    let before = try shelf.dump()
    shelf.clock.advance(hour)
    let error = #expect(throws: SatchelError.self) { try shelf.edit("s", config, content, at: here) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("section s") == true)
    #expect(try shelf.dump() == before)
  }

  @Test("a delivery in which one edit fails changes nothing at all")
  func deliveryFailure() throws {
    let (shelf, _) = try shelf()
    let before = try shelf.dump()
    let sections = [
      Shelf.section("new", #"{"n":{"v":1,\#(tag("n:1", "global"))}}"#),
      Shelf.section("s", "1", config: #"{"operation":"append","target_path":"title.x"}"#, action: "edit"),
    ].joined(separator: ",")
    let text =
      #"{"location":{"country_code":"fr","admin_area":"ara","locality":"Lyon"},"sections":[\#(sections)]}"#
    #expect(throws: SatchelError.self) {
      try Array(text.utf8).withUnsafeBytes { try shelf.catalogue.deliver($0) }
    }
    #expect(try shelf.dump() == before)
  }

  @Test("an edit of a section that is not there begins with nothing")
  func nothingThere() throws {
    let (shelf, here) = try shelf()
    try shelf.edit(
      "new", #"{"operation":"append","target_path":"items"}"#, #"{"v":1,\#(tag("n:1", "country"))}"#, at: here
    )
    #expect(try shelf.shown("new", at: here) == #"{"items":[{"v":1}]}"#)
    #expect(try shelf.catalogue.entity("n:1", at: here) != nil)
    #expect(try shelf.catalogue.sections(at: here).map(\.section) == ["s", "new"])
  }

  @Test("an edit of an inherited section makes it the location's own, and shares the entities")
  func inherited() throws {
    let (shelf, here) = try shelf()
    let paris = try place("fr", "idf", "Paris")
    let receipt = try shelf.edit("s", "null", #"{"more":1,"y":{"v":5}}"#, at: paris)
    #expect(receipt.reused == 1 && receipt.updated == 1 && receipt.saved == 0)
    #expect(try shelf.catalogue.hasCached(paris) == .exact)
    #expect(try shelf.shown("s", at: paris) == #"{"x":{"v":1,"list":[1]},"y":{"v":5},"more":1}"#)
    // The title and z came without _storage: they stay in Lyon, which shares y.
    #expect(try shelf.catalogue.load("s", at: here)?.content["y"]?.text == #"{"v":5}"#)
    #expect(try shelf.catalogue.load("s", at: here)?.content["title"] == "T")
    #expect(try shelf.variants().count == 2)
    try shelf.expectSound()
  }

  @Test("the title and the config stay unless the edit says others")
  func config() throws {
    let (shelf, here) = try shelf()
    try shelf.edit("s", #"{"operation":"merge","target_path":"x"}"#, #"{"v":3}"#, at: here)
    #expect(try shelf.catalogue.sections(at: here).first?.config.text == #"{"render":"card","deep":{"a":1}}"#)
    try shelf.edit("s", #"{"operation":"merge","match":{"a":1},"deep":{"b":2}}"#, "{}", at: here)
    #expect(
      try shelf.catalogue.sections(at: here).first?.config.text == #"{"render":"card","deep":{"a":1,"b":2}}"#)
    let bare = #"{"section":"s","action":"edit","content":{"title":"V"}}"#
    try Array(bare.utf8).withUnsafeBytes { _ = try shelf.catalogue.persist($0, at: here) }
    #expect(try shelf.catalogue.sections(at: here).first?.displayTitle == "Title of s")
    #expect(try shelf.catalogue.load("s", at: here)?.content["title"] == "V")
  }

  @Test(
    "any content can be edited, and an edit that says nothing new changes nothing that shows",
    arguments: 0..<4)
  func anyContent(seed: Int) throws {
    var generator = ContentGenerator(seed: UInt64(seed) + 100)
    let shelf = try Shelf()
    let here = try Location(latitude: 1.5, longitude: 2.5, locality: "L", adminArea: "A", countryCode: "C")
    for _ in 0..<150 {
      let content = generator.content()
      try shelf.persist("any", content, at: here)
      let before = try shelf.shown("any", at: here, allowExpired: true)
      let plan = try shelf.catalogue.plan(for: here).map(\.plan)
      let receipt = try shelf.edit("any", #"{"operation":"patch"}"#, "[]", at: here)
      #expect(try shelf.shown("any", at: here, allowExpired: true) == before, "\(content)")
      #expect(receipt.saved == 0 && receipt.updated == 0, "\(content)")
      #expect(try shelf.catalogue.plan(for: here).map(\.plan) == plan, "\(content)")
      try shelf.expectSound()
    }
  }
}
