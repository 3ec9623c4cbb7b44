import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Deferred puts")
struct DeferredPutTests {
  /// The ids that are committed, as another handle sees them.
  private func committed(_ shelf: RecordShelf) throws -> [String] {
    try shelf.another().collection("notes").ids()
  }

  @Test("are written with the tenth, in order, in one transaction")
  func tenth() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    let changes = Locked<[[String]]>([])
    let subscription = try shelf.database.observe { change in changes.withLock { $0.append(change.keys) } }
    for number in 0..<9 { try notes.putDeferred("n\(number % 5)", ["n": .int(Int64(number))]) }
    #expect(try committed(shelf) == [])
    try notes.putDeferred("n9", ["n": 9])
    #expect(try committed(shelf) == ["n0", "n1", "n2", "n3", "n4", "n9"])
    #expect(changes.withLock { $0.count } == 1)
    #expect(try notes.get("n3")?.document == ["n": 8] && notes.get("n3")?.revision == 2)
    subscription.cancel()
    try shelf.expectSound()
  }

  @Test(
    "are written before every other call for records", arguments: 0..<9)
  func before(call: Int) throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    try notes.putDeferred("a", ["n": 1])
    switch call {
    case 0: #expect(try notes.get("a")?.document == ["n": 1])
    case 1: #expect(try notes.ids() == ["a"])
    case 2: #expect(try notes.count() == 1)
    case 3: try notes.put("a", ["n": 2])
    case 4: #expect(try notes.delete("a"))
    case 5: try notes.update("a", ["m": 3])
    case 6: _ = try shelf.store.transaction { _ in try notes.put("a", ["n": 2]) }
    case 7: try notes.mirror(try #require(shelf.directory).path + "/notes.json")
    default: _ = try shelf.collection("others")
    }
    let expected: [JSONValue?] = [
      ["n": 1], ["n": 1], ["n": 1], ["n": 2], nil, ["n": 1, "m": 3], ["n": 2], ["n": 1], ["n": 1],
    ]
    #expect(try shelf.another().collection("notes").get("a")?.document == expected[call])
  }

  @Test("are written by the store's thread after five seconds, and when the store closes")
  func later() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    try notes.putDeferred("a", [:])
    let other = try shelf.another()
    let seen = try other.collection("notes")
    for _ in 0..<6000 where try seen.count() == 0 { usleep(10_000) }
    #expect(try seen.ids() == ["a"])
    try notes.putDeferred("b", [:])
    try shelf.database.close()
    #expect(try seen.ids() == ["a", "b"])
    #expect(message(.closed) { try notes.putDeferred("c", [:]) }.contains("closed"))
  }

  @Test("that are invalid are rejected immediately; in a batch they are ordinary puts")
  func refused() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection(
      "notes", schema: ["properties": ["n": ["type": "integer"]]])
    #expect(message(.invalid) { try notes.putDeferred("", [:]) }.contains("id"))
    #expect(message(.invalid) { try notes.putDeferred("a", 5) }.contains("object"))
    #expect(message(.constraint) { try notes.putDeferred("a", ["n": "x"]) }.hasPrefix("notes/a: /n"))
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try shelf.store.transaction { _ in
        try notes.putDeferred("a", ["n": 1])
        #expect(try notes.count() == 1)
        throw Stop()
      }
    }
    #expect(try notes.count() == 0)
  }

  @Test("that violate a constraint later are kept among the rejected entries, and the others are written")
  func rejected() throws {
    let shelf = try RecordShelf(onDisk: true)
    let users = try shelf.collection(
      "users", indexes: [RecordIndex("mail", unique: true)], relations: ["boss": RecordRelation("users")])
    let heard = Locked<[String]>([])
    let subscription = try shelf.database.observe { change in heard.withLock { $0 += change.keys } }
    try users.putDeferred("u1", ["mail": "a"])
    try users.putDeferred("u2", ["mail": "a"])
    try users.putDeferred("u3", ["boss": "u4"])
    try users.putDeferred("u4", ["mail": "b"])
    try users.putDeferred("u5", ["boss": "nobody"])
    try users.putDeferred("u6", ["mail": "c"])
    // The relation of "u3" holds only together with "u4", and "u5" fails at the commit.
    #expect(try users.ids() == ["u1", "u4", "u6"] || users.ids() == ["u1", "u3", "u4", "u6"])
    let rejected = try shelf.store.outbox.rejected(in: shelf.database)
    #expect(rejected.contains { $0.reason.contains("u2") } && rejected.contains { $0.reason.contains("u5") })
    #expect(rejected.allSatisfy { (try? JSONValue(parsing: $0.entry))?["put"]?["collection"] == "users" })
    #expect(heard.withLock { $0.contains("@rejected") })
    subscription.cancel()
    try shelf.expectSound()
  }

  @Test("wait for a batch of another thread as any write does, and stay deferred meanwhile")
  func batches() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    try shelf.database.begin()
    try notes.put("in", [:])
    let batch = try #require(try shelf.database.carriedBatch)
    shelf.database.leave()
    try notes.putDeferred("a", [:])
    #expect(message(.busy) { _ = try notes.count() }.contains("batch"))
    try shelf.database.enter(batch)
    #expect(try notes.ids() == ["in"])
    try shelf.database.commit()
    #expect(try notes.ids() == ["in", "a"])
  }

  @Test("of many threads are all written once, each in its order")
  func threads() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    let faults = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        for turn in 0..<100 {
          try notes.putDeferred("t\(thread)", ["n": .int(Int64(turn))])
          if turn % 7 == 0, try notes.get("t\(thread)")?.document != ["n": .int(Int64(turn))] {
            faults.withLock { $0.append("\(thread) does not see \(turn)") }
          }
        }
      } catch {
        faults.withLock { $0.append("\(error)") }
      }
    }
    #expect(faults.withLock { $0 } == [])
    #expect(try notes.list().map(\.revision) == [100, 100, 100, 100])
    #expect(try notes.list().allSatisfy { try $0.document == ["n": 99] })
  }
}
