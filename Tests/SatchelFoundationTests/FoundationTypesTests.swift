import Foundation
import Satchel
import SatchelFoundation
import Testing

/// A type of an app, which knows nothing of the library.
struct Money: Codable, Hashable {
  var cents: Int
}

@Suite("JSON forms of Foundation's and an app's types")
struct FoundationTypesTests {
  struct Visit: Codable, Equatable {
    var at: Date
    var key: UUID
    var price: Decimal
    var page: URL
    var ticket = Data()
    var tags: Set<String> = []
    var days: [Date] = []
    var paid: Money?
  }

  init() {
    JSONConversions.registerFoundationTypes()
    JSONConversions.register(Money.self, encode: { .string("\($0.cents)c") }) { json in
      guard let text = json.stringValue, text.last == "c", let cents = Int(text.dropLast()) else {
        throw JSONError("not money")
      }
      return Money(cents: cents)
    }
  }

  /// The documents that Python stores for the same values.
  private static let stored: JSONValue = [
    "at": "2026-11-23T12:00:00.250000Z", "key": "0f3c9a4e-6f1b-4c50-9a6e-0c54c2b0a2d1", "price": "12.5",
    "page": "https://example.org/a?b=c", "ticket": "AP8=", "tags": ["a", "b", "é"],
    "days": ["1969-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000Z"], "paid": "310c",
  ]

  private func full() throws -> Visit {
    Visit(
      at: Date(timeIntervalSince1970: 1_795_435_200.25),
      key: try #require(UUID(uuidString: "0F3C9A4E-6F1B-4C50-9A6E-0C54C2B0A2D1")),
      price: try #require(Decimal(string: "12.50")),
      page: try #require(URL(string: "https://example.org/a?b=c")), ticket: Data([0, 255]),
      tags: ["b", "é", "a"],
      days: [Date(timeIntervalSince1970: -0.000001), Date(timeIntervalSince1970: -62_135_596_800)],
      paid: Money(cents: 310))
  }

  @Test("a record is stored as by the other languages, and read back unchanged") func roundTrip() throws {
    let store = try Store(path: ":memory:")
    let visits = try store.records(CollectionDeclaration("visits"))
    let visit = try full()
    try visits.put("a", visit)
    let text = String(decoding: try visits.get("a")?.body ?? [], as: UTF8.self)
    let wanted = String(decoding: try Self.stored.serialized(), as: UTF8.self)
    #expect(text == wanted)
    #expect(try visits.get("a", as: Visit.self)?.document == visit)
    try store.state.set("visit", visit)
    #expect(try store.state.get("visit", as: Visit.self) == visit)
  }

  @Test("typed fields compare dates, decimals, UUIDs, URLs, data and enumerations in the form of documents")
  func fields() throws {
    let store = try Store(path: ":memory:")
    let visits = try store.records(
      "visits", indexes: [RecordIndex("at")], types: ["at": .time, "price": .decimal])
    let visit = try full()
    try visits.put("a", visit)
    try visits.put("b", ["at": "2026-11-23T13:00:01+01:00", "price": "9.5"] as JSONValue)
    let (at, price) = (Field<Date>("at"), Field<Decimal>("price"))
    #expect(try visits.ids(RecordQuery(at == visit.at)) == ["a"])
    #expect(try visits.ids(RecordQuery(at >= visit.at, order: [at.descending])).last == "a")
    #expect(try visits.ids(RecordQuery(price >= 9)) == (visit.price >= 9 ? ["a", "b"] : ["b"]))
    #expect(try visits.ids(RecordQuery(Field<UUID>("key") == visit.key)) == ["a"])
    #expect(try visits.ids(RecordQuery(Field<URL>("page") == visit.page)) == ["a"])
    #expect(try visits.ids(RecordQuery(Field<Data>("ticket") == visit.ticket)) == ["a"])
    if let tag = visit.tags.first {
      #expect(try visits.ids(RecordQuery(Field<Set<String>>("tags").contains(tag))) == ["a"])
    }
  }

  @Test(
    "times with other offsets and digits are read",
    arguments: [
      "2026-11-23T12:00:00Z": 1_795_435_200, "2026-11-23T13:00:00+01:00": 1_795_435_200,
      "2026-11-23T12:00:00.5Z": 1_795_435_200.5,
      "2026-11-23T12:00:00.123456789+00:00": 1_795_435_200.123456789,
    ]) func dates(text: String, seconds: Double) throws
  {
    let date = try JSONValue.string(text).decode(as: Date.self)
    #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000001)
  }

  @Test(
    "an invalid value is rejected, with its location",
    arguments: [
      ("at", "yesterday"), ("at", "2026-11-23T12:00:00"), ("at", 7), ("at", "2026-11-23T12:00:00.Z"),
      ("key", "x"),
      ("price", "12 euro"), ("price", "1e"), ("price", "."), ("price", 1.5), ("ticket", "%"), ("paid", "310"),
      ("days/1", ["2026-11-23T12:00:00Z", "soon"]),
    ] as [(String, JSONValue)])
  func refused(member: String, value: JSONValue) throws {
    guard case .object(var object) = Self.stored else { return }
    object[String(member.prefix { $0 != "/" })] = value
    let error = #expect(throws: DecodingError.self) { try JSONValue.object(object).decode(as: Visit.self) }
    #expect(error.map { JSONError($0).pointer } == "/" + member)
  }

  @Test("a date without a year, and a decimal that is not a number, are rejected") func notStored() {
    #expect(throws: EncodingError.self) {
      try JSONValue(encoding: [Date.distantFuture.addingTimeInterval(1e15)])
    }
    #expect(throws: EncodingError.self) { try JSONValue(encoding: [Decimal.nan]) }
  }

  @Test("the days of all years are those of the Gregorian calendar") func calendar() throws {
    for (text, days) in [
      ("0004-03-01", -718_007), ("1582-10-15", -141_427), ("2000-02-29", 11_016), ("9999-12-31", 2_932_896),
    ] {
      let date = Date(timeIntervalSince1970: Double(days) * 86_400)
      #expect(try JSONValue(encoding: date) == .string("\(text)T00:00:00.000000Z"))
      #expect(try JSONValue.string("\(text)T00:00:00.000000Z").decode(as: Date.self) == date)
    }
  }

  @Test("equal sets are equal documents") func sets() throws {
    for _ in 0..<20 {
      let numbers = Set((0..<50).map { "\($0)" }.shuffled())
      #expect(try JSONValue(encoding: numbers) == JSONValue(encoding: (0..<50).map { "\($0)" }.sorted()))
    }
  }

  @Test("the localized description of an error is its message") func localized() throws {
    let store = try Store(path: ":memory:")
    let error = #expect(throws: SatchelError.self) {
      try store.catalogue.persist(["content": [:]], at: Location(countryCode: "PT"))
    }
    #expect(try #require(error).localizedDescription == #require(error).message)
    let invalid = #expect(throws: JSONError.self) { try JSONValue(parsing: Array("[1,]".utf8)) }
    #expect(try #require(invalid).localizedDescription.hasPrefix("line 1, column 4"))
  }
}
