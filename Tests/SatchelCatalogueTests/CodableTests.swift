import Foundation
import Satchel
import Testing

@Suite("Values of the catalogue as JSON")
struct CodableTests {
  /// Checks that a value survives our coder and Foundation's, and prints as the JSON form.
  private func check<Value: JSONCodable & Equatable>(
    _ value: Value, _ text: String, _ place: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try JSONValue(encoding: value).text == text, sourceLocation: place)
    #expect(try JSONValue(parsing: text).decode(as: Value.self) == value, sourceLocation: place)
    #expect(try Value(json: JSONValue(parsing: text)) == value, sourceLocation: place)
    let bytes = try JSONEncoder().encode([value])
    #expect(try JSONDecoder().decode([Value].self, from: bytes) == [value], sourceLocation: place)
  }

  @Test("a location is coded without its keys, which are derived again")
  func locations() throws {
    let porto = try Location(
      latitude: 41.15, longitude: -8.5, locality: "Porto", adminArea: "Porto", countryCode: "PT")
    let text =
      #"{"latitude":41.15,"longitude":-8.5,"locality":"Porto","admin_area":"Porto","country_code":"PT"}"#
    try check(porto, text)
    #expect("\(porto)" == text)
    #expect(try JSONValue(encoding: porto).decode(as: Location.self).keys == porto.keys)
  }

  @Test("levels and scopes are coded and printed as their names")
  func names() throws {
    for level in Level.allCases {
      try check(level, "\"\(level.name)\"")
      #expect("\(level)" == level.name)
    }
    for scope in Scope.allCases {
      try check(scope, "\"\(scope.name)\"")
      #expect("\(scope)" == scope.name)
    }
    #expect(throws: DecodingError.self) { try JSONValue.int(1).decode(as: Level.self) }
    #expect(throws: DecodingError.self) { try JSONValue.string("global").decode(as: Level.self) }
    #expect(throws: DecodingError.self) { try JSONValue.string("moon").decode(as: Scope.self) }
  }

  @Test("a section and its header are coded as the C interface returns them")
  func sections() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr", "ara", "Lyon")
    let content: JSONValue = [
      "section": "s", "display_title": "S", "config": ["n": 1.0],
      "content": ["x": ["v": 1.0, "_storage": ["entity_id": "s:x", "scope": "country", "ttl_hours": 1]]],
    ]
    try fixture.catalogue.persist(content, at: here)
    let section = try #require(try fixture.catalogue.load("s", at: here))
    let text = try #require(
      try fixture.catalogue.loadText("s", at: here, allowExpired: false, inherit: true, nearby: 0))
    // Foundation's coder does not distinguish 1.0 from 1.
    #expect(try JSONValue(encoding: section).text == String(decoding: text, as: UTF8.self))
    #expect(try JSONValue(parsing: text).decode(as: Section.self) == section)
    #expect("\(section)" == String(decoding: text, as: UTF8.self))

    let headers = try fixture.catalogue.sections(at: here)
    let list = try fixture.catalogue.sectionsText(at: here, inherit: true, nearby: 0)
    #expect(try JSONValue(encoding: headers).text == String(decoding: list, as: UTF8.self))
    #expect(try JSONValue(parsing: list).decode(as: [SectionHeader].self) == headers)
    // A section has all members of its header.
    #expect(try SectionHeader(json: section.json) == headers[0])
    let plain = SectionHeader(
      section: "p", entityCount: 2, updatedAt: 3, fetchedAt: 4, etag: "e", isStale: true, level: .country)
    try check(
      plain,
      #"{"section":"p","display_title":null,"config":null,"extra":{},"entity_count":2,"updated_at":3,"#
        + #""fetched_at":4,"etag":"e","stale":true,"level":"country","resolved":{}}"#
    )
    try check(
      Section(header: plain, content: ["a": 1], missing: ["p:a"], expired: ["p:b"]),
      #"{"section":"p","display_title":null,"config":null,"extra":{},"entity_count":2,"updated_at":3,"#
        + #""fetched_at":4,"etag":"e","stale":true,"level":"country","resolved":{},"#
        + #""missing":["p:a"],"expired":["p:b"],"content":{"a":1}}"#)
  }

  @Test(
    "an invalid value is rejected, with its location",
    arguments: [
      (#"[]"#, "", "a section's header must be an object"), (#"{}"#, "", "there is no \"section\""),
      (#"{"section":1}"#, "/section", "not a string"),
      (#"{"section":"s","entity_count":0.5}"#, "/entity_count", "not an integer"),
      (#"{"section":"s","entity_count":0,"updated_at":0}"#, "", "there is no \"level\""),
      (#"{"section":"s","entity_count":0,"updated_at":0,"level":"moon"}"#, "/level", "name of a scope"),
    ])
  func refused(_ text: String, _ pointer: String, _ reason: String) throws {
    let error = try #require(throws: JSONError.self) {
      try SectionHeader(json: JSONValue(parsing: text))
    }
    #expect(error.pointer == pointer && error.reason.contains(reason), "\(error)")
    let decoding = try #require(throws: DecodingError.self) {
      try JSONValue(parsing: text).decode(as: SectionHeader.self)
    }
    #expect(JSONError(decoding).pointer == pointer)
  }

  @Test("receipts, plans, entities and reports print as their JSON")
  func descriptions() throws {
    let fixture = try CatalogueFixture()
    let here = try place("fr", "ara", "Lyon")
    let receipt = try fixture.persist("s", #"{"x":{"v":1,\#(tag("s:x", "country"))}}"#, at: here)
    #expect(try "\(receipt)" == receipt.json.text)
    let plan = try #require(try fixture.catalogue.plan(for: here).first?.plan)
    #expect(
      "\(plan)" == #"{"fresh":["s:x"],"expired":[],"missing":[],"fetched_at":1700000000000,"etag":null}"#)
    let entity = try #require(try fixture.catalogue.entity("s:x", at: here))
    #expect(try "\(entity)" == entity.json.text)
    let context = try #require(try fixture.catalogue.contexts().first)
    #expect(try "\(context)" == context.json.text)
    let pruned = try fixture.catalogue.prune()
    #expect(try "\(pruned)" == pruned.json.text)
    let statistics = try fixture.satchel.statistics()
    #expect(try "\(statistics)" == statistics.json.text)
  }
}
