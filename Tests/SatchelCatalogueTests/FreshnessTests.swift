import Satchel
import SatchelTesting
import Testing

@Suite("Freshness")
struct FreshnessTests {
  private func here() throws -> Location { try place("cn", "", "Shanghai") }

  private func content(_ value: Int = 1) -> String {
    #"{"now":{"t":\#(value),\#(tag("weather:now", "locality", hours: "1"))},"note":"inline"}"#
  }

  @Test("each delivery sets the time of fetching and the entity tag, also one that changes nothing")
  func fetched() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let (catalogue, start) = (fixture.catalogue, fixture.clock.now)
    let section: JSONValue = ["section": "weather", "content": try JSONValue(parsing: content())]
    try catalogue.persist(section, at: here(), etag: "\"a\"")
    func header() throws -> SectionHeader { try #require(try catalogue.sections(at: here()).first) }
    #expect(try (header().fetchedAt, header().updatedAt) == (start, start) && header().etag == "\"a\"")
    fixture.clock.advance(1000)
    try catalogue.persist(section, at: here(), etag: "\"b\"")
    #expect(try (header().fetchedAt, header().updatedAt) == (start + 1000, start) && header().etag == "\"b\"")
    let plan = try #require(try catalogue.plan(for: here()).first?.plan)
    #expect((plan.fetchedAt, plan.etag) == (start + 1000, "\"b\""))
    let context = try #require(try catalogue.contexts(location: here()).first)
    #expect((context.createdAt, context.fetchedAt, context.updatedAt) == (start, start + 1000, start))
    #expect(context.etag == "\"b\"")
    try catalogue.deliver(
      ["location": here().json, "sections": [["section": "news", "content": 1]]], etag: "\"c\"")
    #expect(try catalogue.contexts(location: here()).first?.etag == nil)
    #expect(try catalogue.load("news", at: here())?.header.etag == "\"c\"")
    try catalogue.persist(section, at: here())
    #expect(try header().etag == nil)
    #expect(try catalogue.contexts(location: place("fr")).isEmpty)
    try fixture.expectSound()
  }

  @Test("renewing is a delivery without content: expiry and time of fetching, and no observer is notified")
  func renew() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let catalogue = fixture.catalogue
    let section: JSONValue = [
      "section": "weather", "ttl_hours": 3, "content": try JSONValue(parsing: content()),
    ]
    try catalogue.persist(section, at: here(), etag: "a")
    try fixture.persist("other", #"{"x":{"v":1,\#(tag("o:1", "country", hours: "1"))}}"#, at: here())
    let changes = Locked(0)
    let observer = try fixture.satchel.observe { _ in changes.withLock { $0 += 1 } }
    defer { observer.cancel() }
    fixture.clock.advance(2 * hour)
    #expect(try catalogue.plan(for: here()).map(\.plan.expired) == [["weather:now"], ["o:1"]])
    #expect(try catalogue.renew(here(), section: "weather") == 1)
    let header = try #require(try catalogue.sections(at: here()).first)
    #expect(header.fetchedAt == fixture.clock.now && header.etag == "a" && !header.isStale)
    #expect(header.updatedAt == fixture.clock.now - 2 * hour)
    #expect(try catalogue.plan(for: here()).map(\.plan.fresh) == [["weather:now"], []])
    #expect(try catalogue.entity("weather:now", at: here())?.expiresAt == fixture.clock.now + hour)
    #expect(try catalogue.renew(here(), etag: "b", maxAge: 60) == 2)
    #expect(try catalogue.sections(at: here()).map(\.etag) == ["b", "b"])
    fixture.clock.advance(60_000)
    #expect(try catalogue.sections(at: here()).map(\.isStale) == [true, true])
    #expect(try catalogue.plan(for: here()).map(\.plan.fresh) == [["weather:now"], ["o:1"]])
    #expect(changes.withLock { $0 } == 0)
    // Nothing is inherited, and nothing is stored for what was not delivered.
    #expect(try catalogue.renew(place("cn", "", "Shanghai", "Pudong")) == 0)
    #expect(try catalogue.renew(here(), section: "none") == 0)
    #expect(throws: SatchelError.self) { try catalogue.renew(here(), maxAge: -1) }
    fixture.clock.advance(2 * hour)
    #expect(try catalogue.prune().entities == 2)
    #expect(try catalogue.renew(here()) == 2)
    #expect(try catalogue.plan(for: here()).map(\.plan.missing) == [["weather:now"], ["o:1"]])
    try fixture.expectSound()
  }

  @Test("the time to live of a section is that of what it holds without _storage")
  func timeToLive() throws {
    let fixture = try CatalogueFixture()
    let catalogue = fixture.catalogue
    let section: JSONValue = [
      "section": "s", "ttl_hours": 1,
      "content": ["note": "inline", "e": try JSONValue(parsing: "{\(tag("s:e", "country"))}")],
    ]
    try catalogue.persist(section, at: here())
    #expect(try catalogue.load("s", at: here())?.header.extra.isEmpty == true)
    fixture.clock.advance(hour)
    let stale = try #require(try catalogue.load("s", at: here()))
    #expect(stale.content == ["e": [:]] && stale.header.isStale && stale.expired.isEmpty)
    let offline = try #require(try catalogue.load("s", at: here(), allowExpired: true))
    #expect(offline.content == ["note": "inline", "e": [:]] && offline.header.isStale)
    // An edit keeps it, and renews it; without one, content does not expire.
    try fixture.edit("s", #"{"operation":"merge"}"#, #"{"more":1}"#, at: here())
    #expect(try fixture.shown("s", at: here()) == #"{"note":"inline","e":{},"more":1}"#)
    fixture.clock.advance(hour)
    #expect(try catalogue.sections(at: here()).map(\.isStale) == [true])
    try catalogue.persist(["section": "s", "ttl_hours": .null, "content": 1], at: here())
    fixture.clock.advance(10_000 * hour)
    #expect(try catalogue.sections(at: here()).map(\.isStale) == [false])
    for hours: JSONValue in [-1, "1", true, [:]] {
      let error = try #require(throws: SatchelError.self) {
        try catalogue.persist(["section": "s", "ttl_hours": hours, "content": 1], at: here())
      }
      #expect(error.details.pointer == "/ttl_hours")
    }
  }

  @Test("a section that a clock dated far ahead is stale by its time to live once the clock is right")
  func clockAhead() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    fixture.clock.advance(87_600 * hour)
    try fixture.catalogue.persist(["section": "s", "ttl_hours": 10, "content": 1], at: here())
    fixture.clock.advance(-87_600 * hour)
    try fixture.persist("t", "1", at: place("fr"))
    func header() throws -> SectionHeader? { try fixture.catalogue.sections(at: here()).first }
    #expect(try header()?.fetchedAt == fixture.clock.now && header()?.isStale == false)
    #expect(try fixture.catalogue.contexts(location: here()).first?.createdAt == fixture.clock.now)
    fixture.clock.advance(10 * hour)
    #expect(try header()?.isStale == true)
    try fixture.expectSound()
  }

  @Test("what was loaded with its _storage is persisted without a change, what was loaded without it also")
  func storage() throws {
    let fixture = try CatalogueFixture()
    let catalogue = fixture.catalogue
    let delivered =
      #"{"a":{"t":1,"in":{"v":2,\#(tag("s:in", "country", hours: "0.5"))},\#(tag("s:a", "locality", hours: "2"))},"note":[1]}"#
    try fixture.persist("s", delivered, at: here())
    let quarter = try place("cn", "", "Shanghai", "Pudong")
    func unchanged(_ loaded: JSONValue, _ place: SourceLocation = #_sourceLocation) throws {
      let receipt = try catalogue.persist(
        ["section": "s", "display_title": "Title of s", "content": loaded], at: here())
      #expect((receipt.saved, receipt.updated, receipt.reused) == (0, 0, 2), sourceLocation: place)
      #expect(receipt.detached.isEmpty && receipt.problems.isEmpty, sourceLocation: place)
      #expect(try catalogue.sections(at: here()).map(\.entityCount) == [2], sourceLocation: place)
      #expect(try catalogue.load("s", at: quarter) != nil, sourceLocation: place)
    }
    fixture.clock.advance(hour)
    let tagged = try #require(try catalogue.load("s", at: here(), storage: true))
    #expect(tagged.content["a"]?["_storage"] == ["entity_id": "s:a", "scope": "locality", "ttl_hours": 2.0])
    #expect(tagged.content["a"]?["in"]?["_storage"]?["ttl_hours"] == 0.5)
    #expect(tagged.expired == ["s:in"])
    try unchanged(try #require(try catalogue.load("s", at: here(), allowExpired: true)).content)
    // Nothing was renewed: the content says nothing of its expiry.
    #expect(try catalogue.plan(for: here()).map(\.plan.expired) == [["s:in"]])
    try unchanged(tagged.content)
    #expect(try catalogue.plan(for: here()).map(\.plan.expired) == [[]])
    // A pruned entity stays missing.
    fixture.clock.advance(hour)
    #expect(try catalogue.prune().entities == 1)
    let receipt = try catalogue.persist(
      ["section": "s", "content": try #require(try catalogue.load("s", at: here())).content], at: here())
    #expect(receipt.detached.isEmpty)
    #expect(try catalogue.plan(for: here()).map(\.plan.missing) == [["s:in"]])
    // Other content without _storage is inline, and the receipt says what was lost.
    let inline = try fixture.persist("s", #"{"a":{"t":1}}"#, at: here())
    #expect(Set(inline.detached) == ["s:a", "s:in"])
    try fixture.expectSound()
  }

  @Test("the receipt names the entities that a section no longer refers to")
  func detached() throws {
    let fixture = try CatalogueFixture()
    func items(_ ids: [String]) -> String {
      #"{"items":[\#(ids.map { "{\(tag($0, "country"))}" }.joined(separator: ","))]}"#
    }
    #expect(try fixture.persist("s", items(["s:1", "s:2", "s:3"]), at: here()).detached.isEmpty)
    #expect(try fixture.persist("s", items(["s:2", "s:4"]), at: here()).detached == ["s:1", "s:3"])
    #expect(try fixture.persist("s", items(["s:2", "s:4"]), at: here()).detached.isEmpty)
    #expect(try fixture.persist("s", "1", at: here()).detached == ["s:2", "s:4"])
  }

  @Test("an entity id without a section is stored, and is a problem in the receipt")
  func idWithoutSection() throws {
    let fixture = try CatalogueFixture()
    let receipt = try fixture.persist("orders", #"{"a":{"price":5,\#(tag("5", "locality"))}}"#, at: here())
    #expect(receipt.saved == 1 && receipt.inline == 0)
    #expect(receipt.problems.map(\.pointer) == ["/content/a/_storage/entity_id"])
    #expect(receipt.problems.first?.reason.contains("names no section") == true)
    #expect(try fixture.persist("o", #"{"a":{\#(tag("o:5", "locality"))}}"#, at: here()).problems.isEmpty)
  }
}
