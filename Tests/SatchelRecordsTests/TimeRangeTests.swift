import SatchelCore
import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Ranges of times")
struct TimeRangeTests {
  private static let noon = "2027-03-05T12:00:00.000000Z"

  @Test("compare by time where every text is in the form of times", arguments: [true, false])
  func fixedForm(isIndexed: Bool) throws {
    let records = try RecordShelf().collection("a", indexes: isIndexed ? [RecordIndex("due")] : [])
    for (id, text) in [
      ("before", "2027-03-05T11:59:59.999999Z"), ("noon", Self.noon),
      ("after", "2027-03-05T12:00:00.000001Z"),
      // A day away, any text is on the side of its date.
      ("old", "2027-03-03T23:00:00-12:00"), ("new", "2027-03-07T01:00"), ("word", "tomorrow"),
    ] {
      try records.put(id, ["due": .string(text)])
    }
    try records.put("number", ["due": 7])
    try records.put("none", [:])
    #expect(try records.ids(["where": ["due": ["lt": .string(Self.noon)]]]) == ["before", "old"])
    #expect(try records.ids(["where": ["due": ["lte": .string(Self.noon)]]]) == ["before", "noon", "old"])
    #expect(try records.count(["where": ["due": ["gt": .string(Self.noon)]]]) == 3)
  }

  @Test(
    "are refused where a text near the time is in another form",
    arguments: [
      "2027-03-05T12:00:00Z", "2027-03-05T12:00:00.5Z", "2027-03-05T13:00:00.000000+02:00", "2027-03-05",
      "2027-03-05T12:00:00", "2027-03-04T22:00:00-10:00", "2027-03-06T11:00+23:00",
      "2027-03-05t12:00:00.000000z",
    ], [true, false])
  func otherForm(text: String, isIndexed: Bool) throws {
    let records = try RecordShelf().collection("a", indexes: isIndexed ? [RecordIndex("due")] : [])
    try records.put("fixed", ["due": .string(Self.noon)])
    try records.put("other", ["due": .string(text)])
    for comparison in ["lt", "lte", "gt", "gte"] {
      let condition = JSONObject([(comparison, .string(Self.noon))])
      let query: JSONValue = ["where": ["due": .object(condition)]]
      for attempt in [{ try records.count(query) }, { try records.ids(query).count }] {
        let error = try #require(throws: SatchelError.self) { try attempt() }
        #expect(
          error.code == .invalid && error.message.contains("/due") && error.message.contains("other has"))
      }
    }
    // Another text is an operand like any other, and equality compares texts.
    #expect(try records.ids(["where": ["due": ["gte": "2027"]]]).count == 2)
    #expect(try records.ids(["where": ["due": .string(Self.noon)]]) == ["fixed"])
    try records.delete("other")
    #expect(try records.ids(["where": ["due": ["lte": .string(Self.noon)]]]) == ["fixed"])
  }

  @Test(
    "at the ends of the calendar are compared",
    arguments: ["0000-01-01T00:00:00.000000Z", "0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"])
  func ends(text: String) throws {
    let records = try RecordShelf().collection("a", indexes: [RecordIndex("due")])
    try records.put("end", ["due": .string(text)])
    #expect(try records.ids(["where": ["due": ["gte": .string(text)]]]) == ["end"])
    try records.put("other", ["due": .string(String(text.prefix(19)) + "Z")])
    #expect(throws: SatchelError.self) { try records.ids(["where": ["due": ["gte": .string(text)]]]) }
  }
}
