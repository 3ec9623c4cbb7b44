import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Mirrors that are written after commits")
struct MirrorWorkerTests {
  private func inode(_ path: String) throws -> UInt64 {
    try #require(MirrorImage.Stamp.now(path)).inode
  }

  @Test("are not written inside a put, and once for many")
  func once() throws {
    let shelf = try RecordShelf(onDisk: true)
    let path = try #require(shelf.directory).path + "/courses.json"
    let courses = try shelf.collection("courses")
    try courses.mirror(path)
    // Each write of the file needs its part file: while another writer has that, puts still return.
    let other = try AtomicFile(replacing: path)
    let before = try inode(path)
    for number in 0..<300 { try courses.put("c\(number % 7)", ["n": .int(Int64(number))]) }
    #expect(try inode(path) == before)
    _ = consume other
    try shelf.store.completeMirrors()
    let after = try inode(path)
    #expect(after != before)
    try shelf.store.completeMirrors()
    #expect(try inode(path) == after, "nothing was committed since")
    #expect(try courses.verifyMirror().isEmpty)
  }

  @Test("are written by the store's thread, also after commits of another handle")
  func soon() throws {
    let shelf = try RecordShelf(onDisk: true)
    let path = try #require(shelf.directory).path + "/courses.json"
    let courses = try shelf.collection("courses")
    try courses.mirror(path)
    let other = try shelf.another()
    try other.collection("courses").put("there", ["n": 1])
    try courses.put("here", ["n": 2])
    func isWritten() throws -> Bool {
      let found = try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: path))))
      return found == ["there": ["n": 1], "here": ["n": 2]]
    }
    for _ in 0..<6000 where try !isWritten() { usleep(10_000) }
    #expect(try isWritten())
  }

  @Test("are complete when the handle ends, and when the store is closed")
  func ends() throws {
    let shelf = try RecordShelf(onDisk: true)
    let path = try #require(shelf.directory).path + "/courses.json"
    func json() throws -> JSONValue { try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: path)))) }
    do {
      let courses = try shelf.collection("courses")
      try courses.mirror(path)
      try courses.put("a", [:])
    }
    #expect(try json() == ["a": [:]])
    let courses = try shelf.collection("courses")
    try courses.put("unseen", [:])
    #expect(try json() == ["a": [:]])
    try courses.mirror(path)
    try courses.put("b", [:])
    try shelf.database.close()
    #expect(try json() == ["a": [:], "unseen": [:], "b": [:]])
  }

  @Test("of a handle that ends in a batch contain committed records only")
  func endsInBatch() throws {
    let shelf = try RecordShelf(onDisk: true)
    let path = try #require(shelf.directory).path + "/courses.json"
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      var courses: RecordCollection? = try shelf.collection("courses")
      try courses?.mirror(path)
      try courses?.put("committed", [:])
      try shelf.database.write { _ in
        try courses?.put("rolled-back", [:])
        courses = nil
        throw Stop()
      }
    }
    try shelf.database.close()
    #expect(try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: path)))) == ["committed": [:]])
  }

  @Test("that were edited or cannot be written are reported once, and not overwritten")
  func reported() throws {
    let shelf = try RecordShelf(onDisk: true)
    let folder = try #require(shelf.directory).path + "/mirrors"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let path = folder + "/courses.json"
    let courses = try shelf.collection("courses")
    try courses.put("a", ["n": 1])
    try courses.mirror(path)
    let heard = Locked<[String]>([])
    let subscription = try shelf.database.observe { change in heard.withLock { $0 += change.keys } }
    try Data(#"{"a":{"n":"by hand"}}"#.utf8).write(to: URL(filePath: path))
    try courses.put("b", ["n": 2])
    #expect(message(.invalid) { try shelf.store.completeMirrors() }.contains("1 different (a at /n)"))
    #expect(try courses.verifyMirror().map(\.id) == ["a", "b"])
    try courses.put("c", ["n": 3])
    for _ in 0..<6000 where !heard.withLock({ $0.contains("@mirror_edited") }) { usleep(10_000) }
    #expect(heard.withLock { $0.contains("@mirror_edited") })
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(#"{"a":{"n":"by hand"}}"#.utf8))
    try courses.rebuildMirror()
    try FileManager.default.removeItem(atPath: folder)
    try courses.put("d", ["n": 4])
    for _ in 0..<6000 where !heard.withLock({ $0.contains("@mirror_failed") }) { usleep(10_000) }
    #expect(heard.withLock { $0.contains("@mirror_failed") })
    #expect(throws: SatchelError.self) { try shelf.store.completeMirrors() }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try shelf.store.completeMirrors()
    #expect(try courses.verifyMirror().isEmpty && courses.count() == 4)
    subscription.cancel()
  }

  @Test("two handles of a store never write an older content over a newer one")
  func twoHandles() throws {
    let shelf = try RecordShelf(onDisk: true)
    let path = try #require(shelf.directory).path + "/courses.json"
    let handles = try [shelf, shelf.another()].map { ($0.store, try $0.collection("courses")) }
    for (_, courses) in handles { try courses.mirror(path) }
    let faults = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: handles.count) { number in
      let (store, courses) = handles[number]
      do {
        for turn in 0..<30 {
          try courses.put("n\(number)", ["n": .int(Int64(turn))])
          try store.completeMirrors()
          let seen = try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: path))))
          if seen["n\(number)"]?["n"] != .int(Int64(turn)) {
            faults.withLock { $0.append("\(number): \(turn)") }
          }
        }
      } catch {
        faults.withLock { $0.append("\(error)") }
      }
    }
    #expect(faults.withLock { $0 } == [])
    #expect(try handles[0].1.verifyMirror().isEmpty)
  }
}
