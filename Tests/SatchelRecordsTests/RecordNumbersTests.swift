import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords
@testable import SatchelStorage

@Suite("Numbers of a collection between transactions")
struct RecordNumbersTests {
  @Test("two handles that write in turns see each other's records and numbers", arguments: 1...6)
  func turns(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let first = try RecordShelf(onDisk: true)
    let indexes = seed % 2 == 0 ? [RecordIndex("n")] : []
    var handles = [try first.collection("notes", indexes: indexes)]
    handles.append(try first.another().collection("notes", indexes: indexes))
    var model: [String: Int64] = [:]
    var newest: Int64 = 0
    for step in 1...500 {
      let id = "n\(Int.random(in: 0..<80, using: &random))"
      let notes = try #require(handles.randomElement(using: &random))
      switch Int.random(in: 0..<9, using: &random) {
      case 0...4:
        let isNew = try notes.put(id, ["n": .int(Int64(step))]).isNew
        #expect(isNew == (model[id] == nil))
        model[id] = Int64(step)
        if isNew {
          let row = try notes.database.read { try $0.number("SELECT max(id) FROM record") }
          #expect(row > newest, "a number is taken once")
          newest = row
        }
      case 5, 6: #expect(try notes.delete(id) == (model.removeValue(forKey: id) != nil))
      case 7:
        struct Stop: Error {}
        #expect(throws: Stop.self) {
          try notes.database.write { _ in
            try notes.put("gone\(step)", [:])
            try notes.delete(id)
            #expect(try notes.count() == model.count + 1 - (model[id] == nil ? 0 : 1))
            throw Stop()
          }
        }
      default:
        try notes.database.write { _ in
          for number in 0..<Int.random(in: 1..<400, using: &random) {
            let id = "m\(number % 90)"
            if number % 5 == 4, try notes.delete(id) {
              model[id] = nil
              continue
            }
            let isNew = try notes.put(id, ["n": .int(Int64(number))]).isNew
            #expect(isNew == (model[id] == nil))
            model[id] = Int64(number)
          }
        }
        newest =
          try notes.database.read { try CollectionState.read(notes.id, $0) }.map {
            RecordRow.base(of: notes.id) + $0.numbers.next - 1
          } ?? newest
      }
      for notes in handles {
        #expect(try notes.count() == model.count)
        #expect(try notes.get(id)?.document["n"] == model[id].map { .int($0) })
      }
    }
    try first.expectSound()
    #expect(try Set(handles[0].ids()) == Set(model.keys))
  }

  @Test("a put writes the record and its change, and runs no other statement")
  func statements() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    try notes.put("first", [:])
    try notes.put("second", [:])
    let heard = Locked<[String]>([])
    try shelf.database.maintain {
      traceStatements(of: $0.handle) { sql in heard.withLock { $0.append(sql) } }
    }
    try notes.put("third", [:])
    try notes.put("third", ["n": 1])
    try shelf.database.maintain { traceStatements(of: $0.handle, nil) }
    let statements = heard.withLock { $0 }.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
    #expect(
      statements == [
        "BEGIN IMMEDIATE", "INSERT INTO record(id,", "INSERT INTO change(revision,", "COMMIT",
        "BEGIN IMMEDIATE", "SELECT key FROM", "SELECT revision, created,", "UPDATE record SET",
        "INSERT INTO change(revision,", "COMMIT",
      ])
    #expect(try notes.count() == 3)
    try shelf.expectSound()
  }

  @Test("records of a transaction that fails at its commit are not cached")
  func failedCommit() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    try notes.put("first", [:])
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try shelf.database.write { transaction in
        // Added first, it runs last: after the records are written.
        transaction.beforeCommit(once: "test") { _ in throw Stop() }
        for number in 0..<20 { try notes.put("lost\(number)", [:]) }
      }
    }
    let others = try shelf.another().collection("notes")
    for number in 0..<20 { try others.put("new\(number)", [:]) }
    for number in 0..<20 {
      #expect(try notes.get("new\(number)") != nil && notes.get("lost\(number)") == nil)
      #expect(try !notes.put("new\(number)", ["n": 1]).isNew)
    }
    #expect(try notes.count() == 21 && others.count() == 21)
    try shelf.expectSound()
  }

  @Test("a record can be found while other transactions fail")
  func failures() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    for number in 0..<300 { try notes.put("n\(number)", [:]) }
    let isOver = Locked(false)
    let misses = Locked(0)
    let thread = Thread {
      while !isOver.withLock({ $0 }) {
        for number in stride(from: 0, to: 300, by: 7) where (try? notes.get("n\(number)")) == .some(nil) {
          misses.withLock { $0 += 1 }
        }
      }
      isOver.withLock { $0 = false }
    }
    thread.start()
    struct Stop: Error {}
    for number in 0..<200 {
      #expect(throws: Stop.self) {
        try shelf.database.write { _ in
          try notes.put("x\(number)", [:])
          throw Stop()
        }
      }
    }
    isOver.withLock { $0 = true }
    while isOver.withLock({ $0 }) { usleep(1000) }
    #expect(misses.withLock { $0 } == 0)
  }
}
