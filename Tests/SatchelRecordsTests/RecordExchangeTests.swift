import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelDocuments
import SatchelRecords

@Suite("Unique values at the end of a transaction")
struct RecordExchangeTests {
  private func seats(_ shelf: RecordShelf) throws -> RecordCollection {
    let seats = try shelf.collection("seats", indexes: [RecordIndex("row", unique: true)])
    try seats.putAll([("a", ["row": 1]), ("b", ["row": 2]), ("c", ["row": 3])])
    return seats
  }

  @Test("records exchange their values in one transaction")
  func exchange() throws {
    let shelf = try RecordShelf()
    let seats = try seats(shelf)
    try seats.putAll([("a", ["row": 2]), ("b", ["row": 3]), ("c", ["row": 1])])
    #expect(try seats.ids(["order_by": "row"]) == ["c", "a", "b"])
    try shelf.database.write { _ in
      try seats.put("a", ["row": 3])
      try seats.put("d", ["row": 3])
      try seats.put("b", ["row": 2])
      try seats.delete("d")
    }
    #expect(try seats.ids(["where": ["row": 3]]) == ["a"])
    let long = JSONValue.string(String(repeating: "x", count: 600))
    try seats.put("a", ["row": long])
    try seats.putAll([("b", ["row": long]), ("a", ["row": 2])])
    #expect(try seats.ids(["where": ["row": ["eq": long]]]) == ["b"])
    try shelf.expectSound()
  }

  @Test("a value that two records have at the end names both, and rolls everything back")
  func violation() throws {
    let shelf = try RecordShelf()
    let seats = try seats(shelf)
    #expect(
      message(.constraint) { try seats.putAll([("d", ["row": 4]), ("a", ["row": 2])]) }
        == "seats/a: /row: the value must be unique, and seats/b has the same")
    #expect(
      message(.constraint) {
        try shelf.database.write { _ in
          try seats.put("a", ["row": 3])
          try seats.put("d", ["row": 9])
        }
      } == "seats/a: /row: the value must be unique, and seats/c has the same")
    #expect(try seats.ids(["order_by": "row"]) == ["a", "b", "c"])
    let long = String(repeating: "x", count: 600)
    try seats.put("d", ["row": .string(long + "1")])
    try seats.put("e", ["row": .string(long + "2")])
    #expect(
      message(.constraint) { try seats.put("f", ["row": .string(long + "1")]) }
        == "seats/f: /row: the value must be unique, and seats/d has the same")
    try shelf.expectSound()
  }

  @Test("what a savepoint rolled back is not contested any more")
  func savepoint() throws {
    let shelf = try RecordShelf()
    let seats = try seats(shelf)
    struct Stop: Error {}
    try shelf.database.write { _ in
      #expect(throws: Stop.self) {
        try shelf.database.write { _ in
          try seats.put("d", ["row": 1])
          throw Stop()
        }
      }
      try seats.put("e", ["row": 5])
    }
    #expect(try seats.ids() == ["a", "b", "c", "e"])
    try shelf.expectSound()
  }

  @Test("of many records, those are rejected whose value another one keeps, and those that follow from it")
  func putValid() throws {
    let shelf = try RecordShelf()
    let seats = try seats(shelf)
    // a and b change places; d wants the place of c, which stays; e wants that of a, which b has.
    let report = try seats.putAllValid([
      ("a", ["row": 2]), ("d", ["row": 3]), ("b", ["row": 1]), ("e", ["row": 1]),
    ])
    #expect(report.written == 2 && report.rejected.compactMap(\.id) == ["d", "e"])
    #expect(report.rejected.allSatisfy { $0.message.contains("must be unique") })
    // The first that is written gets the value: b, not c.
    let third = try seats.putAllValid([("b", ["row": 2]), ("a", ["row": 1]), ("c", ["row": 2])])
    #expect(third.written == 2 && third.rejected.compactMap(\.id) == ["c"])
    // x cannot move, so that y, which wants its place, cannot either.
    try seats.putAll([("x", ["row": 11]), ("y", ["row": 12]), ("z", ["row": 13])])
    let chain = try seats.putAllValid([("y", ["row": 11]), ("x", ["row": 13])])
    #expect(chain.written == 0 && chain.rejected.compactMap(\.id) == ["y", "x"])
    let places = (20..<60).map { ("p\($0)", ["row": .int(Int64($0))] as JSONValue) }
    try seats.putAll(places)
    // Each takes the place of the next; the last one's next place is taken.
    let shifted = try seats.putAllValid(
      (20..<60).map { ("p\($0)", ["row": .int($0 == 59 ? 11 : Int64($0 + 1))] as JSONValue) })
    #expect(shifted.written == 0 && shifted.rejected.count == 40)
    try shelf.expectSound()
  }
}
