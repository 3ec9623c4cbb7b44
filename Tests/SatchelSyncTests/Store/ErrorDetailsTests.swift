import Satchel
import SatchelTesting
import Testing

/// An error says where it is, so that no program parses its message.
struct ErrorDetailsTests {
  typealias Details = SatchelError.Details

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var details: Details
    var provoke: @Sendable (Store) throws -> Void
    var testDescription: String { name }
  }

  static func people(_ store: Store) throws -> RecordCollection {
    try store.records(
      CollectionDeclaration(
        "people", indexes: [RecordIndex("mail", unique: true)],
        schema: ["properties": ["age": ["type": "integer"]]]))
  }

  static let cases: [Case] = [
    Case(
      name: "a schema",
      details: Details(subject: "records", collection: "people", id: "ann", pointer: "/age")
    ) { try people($0).put("ann", ["age": "nine"]) },
    Case(
      name: "a unique index",
      details: Details(
        subject: "records", collection: "people", id: "bea", pointer: "/mail", otherCollection: "people",
        otherID: "ann")
    ) { store in
      try people(store).put("ann", ["mail": "a"])
      try people(store).put("bea", ["mail": "a"])
    },
    Case(name: "a revision", details: Details(subject: "records", collection: "people", id: "ann")) {
      try people($0).put("ann", [:], ifRevision: 7)
    },
    Case(
      name: "a section",
      details: Details(subject: "catalogue", pointer: "")
    ) { try $0.catalogue.persist(["content": [:]], at: Location(json: ["country_code": "PT"])) },
    Case(
      name: "a value of state", details: Details(subject: "state", collection: "value", id: "pin")
    ) { try $0.state.set("pin", 1234, sensitive: true) },
    Case(name: "a key of state", details: Details(subject: "state", limit: 255)) {
      try $0.state.set(String(repeating: "k", count: 300), 1)
    },
  ]

  @Test("An error has the details of its place", arguments: cases)
  func details(of example: Case) throws {
    let store = try Store(path: ":memory:")
    let error = try #require(throws: SatchelError.self) { try example.provoke(store) }
    #expect(error.details == example.details, "\(error)")
    try store.close()
  }

  @Test("An error has the details of its cause, and what it says itself counts")
  func causes() {
    let cause = JSONError("no", pointer: "/a", position: JSONPosition(offset: 3, line: 1, column: 4))
    let error = SatchelError(.invalid, "bad", underlying: cause)
    #expect(error.details == Details(pointer: "/a", line: 1, column: 4))
    #expect(SatchelError(.io, "outer", underlying: error).details == error.details)
    #expect(SatchelError(.io, "none").details.isEmpty)
  }
}
