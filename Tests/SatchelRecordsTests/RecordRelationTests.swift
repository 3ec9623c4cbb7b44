import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelDocuments
import SatchelRecords

@Suite("Relations between records")
struct RecordRelationTests {
  private let shelf: RecordShelf
  private let semesters: RecordCollection

  init() throws {
    shelf = try RecordShelf()
    semesters = try shelf.collection("semesters")
    try semesters.put("s1", ["name": "Spring"])
    try semesters.put("s2", ["name": "Autumn"])
  }

  private func courses(
    _ onDelete: RecordRelation.OnDelete, many: Bool = false, redeclare: Bool = false
  ) throws -> RecordCollection {
    try shelf.collection(
      "courses", relations: ["semester_id": RecordRelation("semesters", onDelete: onDelete, many: many)],
      redeclare: redeclare)
  }

  @Test("the target of a reference must exist; null and missing values refer to nothing")
  func existence() throws {
    let courses = try courses(.restrict)
    try courses.put("c1", ["semester_id": "s1"])
    try courses.put("c2", ["semester_id": .null])
    try courses.put("c3", [:])
    #expect(
      message(.constraint) { try courses.put("c4", ["semester_id": "s9"]) }
        == "courses/c4: /semester_id: there is no semesters/s9")
    #expect(
      message(.constraint) { try courses.put("c4", ["semester_id": 1]) }.contains(
        "/semester_id: must be the id")
    )
    #expect(try courses.get("c4") == nil)
    try shelf.expectSound()
  }

  @Test("inside a batch the order is free, and a target that is missing at the end rolls it back")
  func deferred() throws {
    let courses = try courses(.restrict)
    try shelf.database.write { _ in
      try courses.put("c1", ["semester_id": "s3"])
      try semesters.put("s3", [:])
    }
    #expect(
      message(.constraint) {
        try shelf.database.write { _ in
          try courses.put("c2", ["semester_id": "s4"])
          try courses.put("c3", [:])
        }
      } == "courses/c2: /semester_id: there is no semesters/s4")
    #expect(try courses.ids() == ["c1"])
    try shelf.database.write { _ in
      try courses.put("c2", ["semester_id": "s4"])
      try courses.put("c2", ["semester_id": "s1"])
    }
    try shelf.expectSound()
  }

  @Test("restrict keeps a record that is referred to, and the message names the referring record")
  func restrict() throws {
    let courses = try courses(.restrict)
    try courses.put("c1", ["semester_id": "s1"])
    #expect(
      message(.constraint) { try semesters.delete("s1") }
        == "semesters/s1: cannot be deleted while courses/c1 refers to it at /semester_id")
    #expect(try semesters.delete("s2"))
    try courses.put("c1", ["semester_id": .null])
    #expect(try semesters.delete("s1"))
    try shelf.expectSound()
  }

  @Test("cascade follows chains and cycles without recursion")
  func cascade() throws {
    let nodes = try shelf.collection(
      "nodes", relations: ["next": RecordRelation("nodes", onDelete: .cascade)])
    try shelf.database.write { _ in
      for number in 0..<5000 { try nodes.put("n\(number)", ["next": .string("n\((number + 1) % 5000)")]) }
      try nodes.put("self", ["next": "self"])
      try nodes.put("other", [:])
    }
    #expect(try nodes.delete("n77"))
    #expect(try nodes.ids() == ["self", "other"])
    #expect(try nodes.delete("self"))
    #expect(try nodes.ids() == ["other"])
    try shelf.expectSound()
  }

  @Test("nullify writes null, or removes the id from an array, and keeps every other byte")
  func nullify() throws {
    let one = try courses(.nullify)
    try one.put("c1", text: #"{ "a": 1.50, "semester_id" : "s1" , "z":[ ] }"#)
    try semesters.delete("s1")
    #expect(try one.text("c1") == #"{ "a": 1.50, "semester_id" : null , "z":[ ] }"#)
    #expect(try one.get("c1")?.revision == 2)
    let many = try shelf.collection(
      "plans", relations: ["/of/ids": RecordRelation("semesters", onDelete: .nullify, many: true)])
    try semesters.put("s3", [:])
    try many.put("p1", text: #"{"of":{"ids": ["s3", "s2","s3"] },"n":1}"#)
    #expect(message(.constraint) { try many.put("p2", ["of": ["ids": "s2"]]) }.contains("array of ids"))
    #expect(message(.constraint) { try many.put("p2", ["of": ["ids": ["s2", 7]]]) }.contains("/of/ids/1"))
    try semesters.delete("s3")
    #expect(try many.text("p1") == #"{"of":{"ids": ["s2"] },"n":1}"#)
    try shelf.expectSound()
  }

  @Test("restrict throws before the store is changed")
  func restrictWins() throws {
    let cascading = try courses(.cascade)
    let notes = try shelf.collection("notes", relations: ["course": RecordRelation("courses")])
    try cascading.put("c1", ["semester_id": "s1"])
    try cascading.put("c2", ["semester_id": "s1"])
    try notes.put("n1", ["course": "c2"])
    #expect(message(.constraint) { try semesters.delete("s1") }.contains("notes/n1"))
    #expect(try semesters.count() == 2 && cascading.count() == 2 && notes.count() == 1)
    try notes.delete("n1")
    #expect(try semesters.delete("s1"))
    #expect(try cascading.count() == 0)
    try shelf.expectSound()
  }

  @Test(
    "a relation declared later is checked against existing records; a dropped one has no effect"
  )
  func redeclare() throws {
    let courses = try shelf.collection("courses", indexes: [])
    try courses.put("c1", ["semester_id": "s1"])
    try courses.put("c2", ["semester_id": "s9"])
    #expect(
      message(.constraint) { _ = try self.courses(.restrict) }
        == "courses/c2: /semester_id: there is no semesters/s9")
    try courses.put("c2", [:])
    let strict = try self.courses(.restrict)
    #expect(throws: SatchelError.self) { try semesters.delete("s1") }
    #expect(message(.invalid) { _ = try self.courses(.cascade) }.contains("redeclare=True"))
    let loose = try self.courses(.cascade, redeclare: true)
    #expect(try semesters.delete("s1") && strict.ids() == ["c2"])
    try semesters.put("s1", [:])
    try loose.put("c1", ["semester_id": "s1"])
    _ = try shelf.collection("courses", indexes: [])
    #expect(try semesters.delete("s1") && loose.ids() == ["c2"])
    try semesters.put("s1", [:])
    try loose.put("c1", ["semester_id": "s1"])
    _ = try shelf.collection("courses", indexes: [], redeclare: true)
    #expect(try semesters.delete("s1") && loose.count() == 2)
    try shelf.expectSound()
  }

  @Test("a relation may refer to a collection that is declared later")
  func laterTarget() throws {
    let notes = try shelf.collection("notes", relations: ["about": RecordRelation("people")])
    #expect(throws: SatchelError.self) { try notes.put("n1", ["about": "p1"]) }
    #expect(try shelf.store.collections().map(\.name) == ["notes", "semesters"])
    let people = try shelf.collection("people", indexes: [RecordIndex("name")])
    try people.put("p1", ["name": "Ada"])
    try notes.put("n1", ["about": "p1"])
    #expect(throws: SatchelError.self) { try people.delete("p1") }
    try shelf.expectSound()
  }
}
