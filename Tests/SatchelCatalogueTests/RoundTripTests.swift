import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Round trip")
struct RoundTripTests {
  @Test("every delivery loads byte for byte, without _storage")
  func fixture() throws {
    try #require(Deliveries.lines.count == 266)
    let fixture = try CatalogueFixture()
    for line in Deliveries.lines {
      let receipts = try Array(line.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0) }
      let location = try Deliveries.location(line)
      guard case .array(let sections)? = try RawJSON(parsing: line).member("sections") else {
        Issue.record("no sections")
        return
      }
      #expect(receipts.count == sections.count)
      for (receipt, section) in zip(receipts, sections) {
        let sent = try #require(section.member("content"))
        #expect(try fixture.rawContent(receipt.section, at: location)?.text == sent.withoutStorage.text)
        let tags = sent.tags()
        #expect(receipt.saved + receipt.updated + receipt.reused + receipt.problems.count == tags.count)
        let value = try #require(
          try fixture.catalogue.load(receipt.section, at: location, allowExpired: true))
        #expect(try value.content.text == JSONValue(parsing: sent.withoutStorage.text).text)
        #expect(value.missing.isEmpty && value.expired.isEmpty)
      }
    }
    try fixture.expectSound()
  }

  @Test("a repeated delivery stores nothing")
  func again() throws {
    let fixture = try CatalogueFixture()
    for line in Deliveries.lines {
      _ = try Array(line.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0) }
    }
    let before = try fixture.variants()
    #expect(Set(before).count == before.count)
    for line in Deliveries.lines {
      for receipt in try Array(line.utf8).withUnsafeBytes({ try fixture.catalogue.deliver($0) }) {
        #expect(receipt.saved == 0)
      }
    }
    #expect(try fixture.variants() == before)
    try fixture.expectSound()
  }

  @Test("contents of any shape load byte for byte", arguments: Portion.of(0..<8, parts: 4))
  func anyContent(seed: Int) throws {
    var generator = ContentGenerator(seed: UInt64(seed))
    let locations = [
      try Location(
        latitude: 1.5, longitude: 2.5, sublocality: "S", locality: "L", adminArea: "A", countryCode: "C"),
      try place("sg", "", "Singapore"), try Location(latitude: 10, longitude: -0.1),
    ]
    var fixture = try CatalogueFixture()
    for round in 0..<500 {
      if round % 100 == 0 { fixture = try CatalogueFixture() }
      let location = locations[round % 3]
      let content = generator.content()
      let sent = try RawJSON(parsing: content)
      // What was loaded, and is delivered without its tags, keeps its entities: FreshnessTests has that.
      let loaded = try fixture.catalogue.load("any", at: location, allowExpired: true, nearby: 0)?.content
      if try !content.contains("_storage") && loaded == JSONValue(parsing: content) { continue }
      let before = Set(try fixture.variants())
      let receipt = try fixture.persist("any", content, at: location)
      try #require(
        try fixture.rawContent("any", at: location)?.text == sent.withoutStorage.text,
        "\(location.json) \(content)")
      try expectSums(receipt, sent, location, fixture, before)
      let again = try fixture.persist("any", content, at: location)
      #expect(again.saved == 0 && again.updated == 0, "\(content)")
      #expect(again.reused == receipt.saved + receipt.updated + receipt.reused)
      #expect(again.problems == receipt.problems && again.inline == receipt.inline)
      #expect(try fixture.rawContent("any", at: location)?.text == sent.withoutStorage.text, "\(content)")
      try fixture.expectSound()
    }
  }

  /// Compares a receipt with the delivery, by the rules of the format.
  private func expectSums(
    _ receipt: Receipt, _ sent: RawJSON, _ location: Location, _ fixture: CatalogueFixture,
    _ before: Set<String>
  ) throws {
    let tags = sent.tags(at: "/content")
    var good: Set<String> = []
    var bad: Set<String> = []
    for tag in tags {
      if let identity = identity(tag.value, location) {
        good.insert(identity)
      } else {
        bad.insert(tag.pointer)
      }
    }
    let stored = Set(try fixture.variants())
    #expect(stored.subtracting(before).count == receipt.saved)
    let sum = receipt.saved + receipt.updated + receipt.reused
    #expect(receipt.problems.count >= bad.count && receipt.problems.count <= tags.count)
    // Of a repeated identity at least the first occurrence is extracted, unless it is inside another one.
    #expect(sum <= good.count && (sum > 0 || good.isEmpty), "\(sent.text)")
    let named = receipt.problems.map { problem in
      problem.pointer.components(separatedBy: "/_storage").dropLast().joined(separator: "/_storage")
        + "/_storage"
    }
    #expect(
      Set(named).isSuperset(of: bad) && Set(named).isSubset(of: tags.map(\.pointer)), "\(named) \(sent.text)")
    #expect(Set(named).count == named.count)
    for (name, problem) in zip(named, receipt.problems) where !bad.contains(name) {
      let known = ["occurs twice", "nested in itself", "names no section"]
      #expect(known.contains { problem.reason.contains($0) }, "\(problem.reason)")
    }
  }

  /// Returns the identity in a tag that is valid for the location; nil for an invalid one.
  private func identity(_ tag: RawJSON, _ location: Location) -> String? {
    guard case .scalar(let id)? = tag.member("entity_id"), let name = RawJSON.meaning(id), !name.isEmpty,
      case .scalar(let word)? = tag.member("scope"), let scope = RawJSON.meaning(word)?.lowercased()
    else { return nil }
    if scope != "global" {
      guard let level = Level(name: scope), location.key(level) != nil else { return nil }
    }
    if let life = tag.member("ttl_hours"), life != .scalar("null") {
      guard case .scalar(let number) = life, let hours = Double(number), hours >= 0 else { return nil }
    }
    return "\(Array(name.utf8)) \(scope)"
  }

  @Test("three nested entities are stored separately, and the content is complete")
  func threeDeep() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr", "ara", "Lyon")
    let content =
      #"{"x":{"a":1,"in":{"b":[2,{"c":3,\#(tag("s:3", "global"))}],\#(tag("s:2", "country"))},\#(tag("s:1", "locality"))}}"#
    let receipt = try fixture.persist("s", content, at: here)
    #expect(receipt.saved == 3 && receipt.inline == 0)
    #expect(try fixture.shown("s", at: here) == #"{"x":{"a":1,"in":{"b":[2,{"c":3}]}}}"#)
    #expect(try fixture.catalogue.entity("s:2", at: here)?.content.text == #"{"b":[2,{"c":3}]}"#)
    try fixture.expectSound()
  }

  @Test("a repeated entity is stored once, and one with different content is stored once and once inline")
  func twice() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let one = #"{"v":1,\#(tag("s:1", "global"))}"#
    let other = #"{"v":2,\#(tag("s:1", "global"))}"#
    let same = try fixture.persist("s", "[\(one),\(one)]", at: here)
    #expect(same.saved == 1 && same.problems.isEmpty)
    #expect(try fixture.shown("s", at: here) == #"[{"v":1},{"v":1}]"#)
    #expect(try fixture.catalogue.sections(at: here).first?.entityCount == 1)
    let differing = try fixture.persist("s", "[\(one),\(other)]", at: here)
    #expect(differing.reused == 1 && differing.inline == 1)
    #expect(differing.problems.map(\.pointer) == ["/content/1/_storage/entity_id"])
    #expect(try fixture.shown("s", at: here) == #"[{"v":1},{"v":2}]"#)
    try fixture.expectSound()
  }

  @Test("an entity that is nested in itself is complete, with its inner copy inline")
  func insideItself() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    let content = #"{"x":{"v":{"w":1,\#(tag("s:1", "country"))},\#(tag("s:1", "country"))}}"#
    let receipt = try fixture.persist("s", content, at: here)
    #expect(receipt.saved == 1)
    #expect(receipt.problems.map(\.pointer) == ["/content/x/v/_storage/entity_id"])
    #expect(try fixture.shown("s", at: here) == #"{"x":{"v":{"w":1}}}"#)
    try fixture.expectSound()
  }
}
