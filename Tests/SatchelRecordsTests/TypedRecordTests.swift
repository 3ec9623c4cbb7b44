import SatchelCore
import SatchelJSON
import SatchelDocuments
import SatchelRecords
import SatchelStorage
import Testing

@Suite("Typed records")
struct TypedRecordTests {
  private struct Person: Codable, Hashable {
    var name: String
    var mail: String?
  }

  private struct Course: Codable, Hashable {
    var title: String
    var room: String?
    var teacher: Person?
    var students: [Person] = []
    var tags: [String: Int] = [:]
  }

  private static let stored = #"""
    {"future":{"a":[1,{"b":null}]},"title":"Algebra","room":"H1","students":[
      {"name":"Ada","age":36},{"name":"Emmy","x":1,"mail":"e"},{"name":"Sophie","x":2}],
     "teacher":{"title":"Dr.","name":"Noether"},"tags":{"a":1.0,"b":2},"note":null}
    """#

  /// Reads the course, changes it, puts it back, and returns the document.
  private func after(_ change: (inout TypedRecord<Course>) -> Void) throws -> JSONValue {
    let courses = try RecordShelf().collection("courses")
    try courses.put("c1", text: Self.stored)
    var record = try #require(try courses.get("c1", as: Course.self))
    change(&record)
    #expect(try courses.put(record).revision == 2)
    return try #require(try courses.get("c1")).document
  }

  @Test("keep members that their type lacks, and unchanged members byte for byte")
  func unchanged() throws {
    let before = try JSONValue(parsing: Array(Self.stored.utf8))
    #expect(try after { _ in } == before)
    let renamed = try after { $0.title = "Topology" }
    var expected = try #require(before.objectValue)
    expected["title"] = "Topology"
    #expect(renamed == .object(expected))
    #expect(renamed["tags"]?["a"] == 1.0)
    #expect(renamed.objectValue?.keys.first == "future")
  }

  @Test("a value that was not read keeps the members that its type lacks, except with replace")
  func notRead() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses")
    let course = Course(
      title: "Topology", teacher: Person(name: "Noether", mail: "n"),
      students: [Person(name: "Emmy", mail: "e"), Person(name: "Ada"), Person(name: "Carl")])
    try courses.put("c1", text: Self.stored)
    try courses.put("c1", course)
    let kept = try #require(try courses.get("c1")).document
    #expect(kept["future"] == ["a": [1, ["b": .null]]] && kept["note"] == .null && kept["room"] == nil)
    #expect(kept["teacher"] == ["title": "Dr.", "name": "Noether", "mail": "n"])
    #expect(
      kept["students"] == [
        ["name": "Emmy", "x": 1, "mail": "e"], ["name": "Ada", "age": 36], ["name": "Carl"],
      ])
    try courses.put("c1", course, replace: true)
    #expect(try courses.get("c1")?.document["future"] == nil)
    // A document that the type cannot be decoded from loses nothing that the type may not know.
    try courses.put("c1", ["name": 5, "future": 1])
    try courses.put("c1", course)
    #expect(try courses.get("c1")?.document["future"] == 1)
    #expect(throws: SatchelError.self) { try courses.put("c1", course, ifRevision: 1) }
    try shelf.expectSound()
  }

  @Test("a described type keeps the members that it lacks, also when the write was spooled or deferred")
  func described() throws {
    let shelf = try RecordShelf(onDisk: true)
    let other = try shelf.another(busyTimeout: 10)
    let plain = try shelf.collection("courses")
    let known: JSONValue = [["title": .null, "students": [1]], ["name": .null]]
    let typed = try other.collection("courses").writing(known: known)
    let stored: JSONValue = ["title": "A", "future": 1, "students": [["name": "Ada", "age": 36]]]
    for id in ["put", "many", "valid", "deferred"] { try plain.put(id, stored) }
    let new: JSONValue = ["title": "B", "students": [["name": "Emmy"], ["name": "Ada"]]]
    let kept: JSONValue = [
      "title": "B", "students": [["name": "Emmy"], ["name": "Ada", "age": 36]], "future": 2,
    ]
    try shelf.database.write { _ in
      #expect(try typed.put("put", new).isSpooled)
      #expect(try typed.putMany([("many", new)] as [(String, JSONValue)]) == 0)
      // What is written later keeps what the records have then.
      for id in ["put", "many", "valid", "deferred"] { try plain.update(id, ["future": 2]) }
    }
    try typed.putDeferred("deferred", new)
    #expect(try typed.putAllValid([("valid", new)]).written == 1)
    for id in ["put", "many", "valid", "deferred"] { #expect(try typed.get(id)?.document == kept, "\(id)") }
    try shelf.expectSound()
  }

  @Test(
    "an invalid description of a type names the place",
    arguments: [
      ("[]", "an array with an object"), ("[1]", "/0"), (#"[{"a":1}]"#, "/0/a"),
      (#"[{"a":[[-1]]}]"#, "/0/a/0/0"),
      (#"[{"a":[]}]"#, "/0/a"), (#"[{"a":"x"}]"#, "/0/a"),
    ])
  func badDescription(known: String, says: String) throws {
    let courses = try RecordShelf().collection("courses")
    let json = try JSONValue(parsing: Array(known.utf8))
    #expect(message(.invalid) { _ = try courses.writing(known: json) }.contains(says))
  }

  @Test("remove a member that was set to nil, and add one that was not there")
  func removed() throws {
    let document = try after {
      $0.room = nil
      $0.teacher?.mail = "n"
    }
    #expect(document["room"] == nil && document["note"] == .null)
    #expect(document["teacher"] == ["title": "Dr.", "name": "Noether", "mail": "n"])
    #expect(try after { $0.teacher = nil }["teacher"] == nil)
    #expect(try after { $0.tags = ["b": 3] }["tags"] == ["b": 3])
  }

  @Test("match the elements of arrays with equal ones, then by their first member")
  func elements() throws {
    func students(_ change: (inout [Person]) -> Void) throws -> JSONValue? {
      try after { change(&$0.students) }["students"]
    }
    let (ada, emmy, sophie): (JSONValue, JSONValue, JSONValue) = (
      ["name": "Ada", "age": 36], ["name": "Emmy", "x": 1, "mail": "e"], ["name": "Sophie", "x": 2]
    )
    #expect(try students { $0.reverse() } == [sophie, emmy, ada])
    #expect(try students { $0.remove(at: 1) } == [ada, sophie])
    #expect(try students { $0[1].mail = nil } == [ada, ["name": "Emmy", "x": 1], sophie])
    #expect(
      try students { $0.insert(Person(name: "Emmy", mail: "new"), at: 0) } == [
        ["name": "Emmy", "mail": "new"], ada, emmy, sophie,
      ])
    #expect(try students { $0[0].name = "Grace" } == [["name": "Grace"], emmy, sophie])
    #expect(try students { $0 = [] } == [])
  }

  @Test("are rejected when the record was changed since")
  func conflict() throws {
    let courses = try RecordShelf().collection("courses")
    try courses.put("c1", text: Self.stored)
    let record = try #require(try courses.list(as: Course.self).first)
    try courses.put("c1", Course(title: "Other"))
    #expect(message(.conflict) { try courses.put(record) }.contains("c1"))
    try courses.put("c1", Course(title: "Whole"), replace: true)
    #expect(try courses.get("c1")?.document == ["title": "Whole", "students": [], "tags": [:]])
  }
}
