import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelRecords
import Testing

@Suite("Typed fields in queries")
struct FieldTests {
  private enum Level: String, Codable { case easy, hard }

  private struct Broken: Encodable {
    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(
        self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "no form"))
    }
  }

  private static let title = Field<String>("title")
  private static let credits = Field<Int>("credits")
  private static let level = Field<Level>("level")
  private static let tags = Field<[String]>("tags")

  private func courses() throws -> RecordCollection {
    let courses = try RecordShelf().collection("courses", indexes: [RecordIndex("credits")])
    try courses.putAll([
      ("a", ["title": "Algebra", "credits": 5, "level": "hard", "tags": ["proofs"]]),
      ("b", ["title": "Botany", "credits": 3, "level": "easy", "tags": []]),
      ("c", ["title": "Analysis", "credits": 8, "level": "hard"]),
    ])
    return courses
  }

  @Test("comparisons, sets, prefixes and elements are conditions")
  func conditions() throws {
    let courses = try courses()
    func ids(_ filter: RecordFilter) throws -> [String] { try courses.ids(RecordQuery(filter)) }
    #expect(try ids(Self.credits == 5) == ["a"])
    #expect(try ids(Self.credits != 5) == ["b", "c"])
    #expect(try ids(Self.credits < 5) == ["b"])
    #expect(try ids(Self.credits <= 5) == ["a", "b"])
    #expect(try ids(Self.credits > 5) == ["c"])
    #expect(try ids(Self.credits >= 5) == ["a", "c"])
    #expect(try ids(Self.level == .hard) == ["a", "c"])
    #expect(try ids(Self.credits.oneOf([3, 8, 9])) == ["b", "c"])
    #expect(try ids(Self.title.hasPrefix("A")) == ["a", "c"])
    #expect(try ids(Self.title.contains("ysi")) == ["c"])
    #expect(try ids(Self.tags.contains("proofs")) == ["a"])
    #expect(try ids(Self.tags.exists) == ["a", "b"])
    #expect(try ids(Field<Int?>("credits") == nil) == [])
    #expect(try ids(Field<String>("@id") > "a") == ["b", "c"])
  }

  @Test("conditions are combined with &&, || and !")
  func combinations() throws {
    let courses = try courses()
    func ids(_ filter: RecordFilter) throws -> [String] { try courses.ids(RecordQuery(filter)) }
    #expect(try ids(Self.credits > 3 && Self.level == .hard && Self.title.hasPrefix("An")) == ["c"])
    #expect(try ids(Self.credits == 3 || Self.credits == 8 || Self.credits == 5) == ["a", "b", "c"])
    #expect(try ids(!(Self.credits == 3) && !Self.tags.exists) == ["c"])
    #expect(try ids(Self.credits < 4 || Self.credits > 4 && Self.tags.exists) == ["a", "b"])
    // An empty list never matches: a condition that is added must not be lost in it.
    #expect(try ids(.any([]) || Self.credits == 3) == ["b"])
  }

  @Test("a field orders a query")
  func orders() throws {
    let courses = try courses()
    #expect(try courses.ids(RecordQuery(order: [Self.credits.descending])) == ["c", "a", "b"])
    let query = try RecordQuery(Self.credits > 1, order: [Self.level.ascending, Self.title.descending])
    #expect(try courses.ids(query) == ["b", "c", "a"])
  }

  @Test("a value that cannot be encoded is refused with the path of the field")
  func unencodable() {
    #expect(message(.invalid) { _ = try Field<Broken>("x.y") == Broken() }.hasPrefix("\"x.y\": "))
    #expect(message(.invalid) { _ = try Field<Double>("d") > .nan }.hasPrefix("\"d\": "))
  }
}
