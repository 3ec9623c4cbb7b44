import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

import SatchelDocuments
import SatchelRecords

/// Thousands of random operations over two related collections, against a plain model in memory.
@Suite("Records against a model")
struct RecordModelTests {
  private struct Course: Equatable {
    var semester: String?
    var code: Int?
    var credits: Int
  }

  /// The expected collections: ids in insertion order.
  private struct Model: Equatable {
    var semesters: [String] = []
    var courses: [String: Course] = [:]
    var order: [String] = []

    mutating func put(_ id: String, _ course: Course) {
      if courses.updateValue(course, forKey: id) == nil { order.append(id) }
    }

    mutating func deleteSemester(_ id: String) {
      semesters.removeAll { $0 == id }
      for (key, course) in courses where course.semester == id { deleteCourse(key) }
    }

    mutating func deleteCourse(_ id: String) {
      courses[id] = nil
      order.removeAll { $0 == id }
    }

    func allows(_ id: String, _ course: Course) -> Bool {
      let isKnown = course.semester.map { semesters.contains($0) } ?? true
      let isUnique =
        course.code.map { code in !courses.contains { $0.key != id && $0.value.code == code } } ?? true
      return isKnown && isUnique
    }
  }

  private struct Stop: Error {}

  @Test("the collections have the content of the model", arguments: 1...6)
  func random(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let shelf = try RecordShelf(onDisk: true)
    let shelves = [shelf, try shelf.another()]
    let handles = try shelves.map { shelf in
      (
        semesters: try shelf.collection("semesters"),
        courses: try shelf.collection(
          "courses", indexes: [RecordIndex("code", unique: true), RecordIndex("credits")],
          relations: ["semester": RecordRelation("semesters", onDelete: .cascade)])
      )
    }
    var model = Model()
    for round in 0..<700 {
      let which = Int.random(in: 0..<2, using: &random)
      if Int.random(in: 0..<5, using: &random) == 0 {
        let fails = Bool.random(using: &random)
        let before = model
        do {
          try shelves[which].database.write { _ in
            for _ in 0..<Int.random(in: 1..<20, using: &random) {
              try step(&model, handles[which].semesters, handles[which].courses, &random, isInBatch: true)
            }
            try compare(model, handles[which].semesters, handles[which].courses, &random)
            if fails { throw Stop() }
          }
        } catch is Stop {
          model = before
        }
      } else {
        try step(&model, handles[which].semesters, handles[which].courses, &random)
      }
      if round % 7 == 0 {
        let other = Int.random(in: 0..<2, using: &random)
        try compare(model, handles[other].semesters, handles[other].courses, &random)
      }
    }
    try shelf.expectSound()
    try shelves[1].database.close()
    try shelf.expectSound()
    try compare(model, handles[0].semesters, handles[0].courses, &random)
  }

  private func step(
    _ model: inout Model, _ semesters: RecordCollection, _ courses: RecordCollection,
    _ random: inout SeededRandom, isInBatch: Bool = false
  ) throws {
    let semester = "s\(Int.random(in: 0..<8, using: &random))"
    let id = "c\(Int.random(in: 0..<60, using: &random))"
    switch Int.random(in: 0..<10, using: &random) {
    case 0...1:
      try semesters.put(semester, ["name": .string(semester)])
      if !model.semesters.contains(semester) { model.semesters.append(semester) }
    case 2:
      #expect(try semesters.delete(semester) == model.semesters.contains(semester))
      model.deleteSemester(semester)
    case 3:
      #expect(try courses.delete(id) == (model.courses[id] != nil))
      model.deleteCourse(id)
    default:
      // Missing records are referred to only outside of batches: inside, that would be an error at the end.
      let known = model.semesters.randomElement(using: &random)
      let course = Course(
        semester: Bool.random(using: &random) ? known : nil,
        code: Bool.random(using: &random) ? Int.random(in: 0..<40, using: &random) : nil,
        credits: Int.random(in: 0..<5, using: &random))
      var document: JSONObject = ["credits": .int(Int64(course.credits))]
      if let semester = course.semester { document["semester"] = .string(semester) }
      if let code = course.code { document["code"] = .int(Int64(code)) }
      if model.allows(id, course) {
        let receipt = try courses.put(id, .object(document))
        #expect(receipt.isNew == (model.courses[id] == nil))
        model.put(id, course)
      } else if !isInBatch {
        // In a batch that would be an error at the end.
        #expect(throws: SatchelError.self) { try courses.put(id, .object(document)) }
      }
    }
  }

  private func compare(
    _ model: Model, _ semesters: RecordCollection, _ courses: RecordCollection, _ random: inout SeededRandom
  ) throws {
    #expect(try semesters.ids() == model.semesters)
    #expect(try courses.ids() == model.order)
    #expect(try courses.count() == model.order.count)
    let id = "c\(Int.random(in: 0..<60, using: &random))"
    let found = try courses.get(id)?.document
    #expect(found?["credits"]?.intValue.map { Int($0) } == model.courses[id]?.credits)
    #expect(found?["code"]?.intValue.map { Int($0) } == model.courses[id]?.code)
    let low = Int64.random(in: 0..<5, using: &random)
    let expected = model.order.filter { (model.courses[$0]?.credits ?? -1) >= low }
    #expect(try courses.ids(["where": ["credits": ["gte": .int(low)]]]) == expected)
    #expect(try courses.count(["where": ["credits": ["gte": .int(low)]]]) == expected.count)
    let byCode = model.order.filter { model.courses[$0]?.code != nil }.sorted {
      (model.courses[$0]?.code ?? 0) > (model.courses[$1]?.code ?? 0)
    }
    #expect(
      try courses.ids(["where": ["code": ["exists": true]], "order_by": "-code", "limit": 5])
        == Array(byCode.prefix(5)))
  }
}
