import SatchelStorageTesting
import Synchronization
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Consecutive reads")
struct SharedReadTransactionTests {
  private func count(_ database: Database) throws -> Int64 {
    try database.read { try $0.number("SELECT count(*) FROM item") }
  }

  @Test("share a transaction until a commit")
  func shareTransaction() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    try database.write { try $0.add("one") }
    let begun = Mutex(0)
    try database.read { connection in
      traceStatements(of: connection.handle) { sql in if sql.hasPrefix("BEGIN") { begun.withLock { $0 += 1 } }
      }
    }
    for _ in 0..<2000 { #expect(try count(database) == 1) }
    // On a busy machine, reads may find the transaction too old and begin another one.
    #expect(begun.withLock { $0 } < 1000)
  }

  @Test("see commits of another handle at once")
  func seeCommits() throws {
    let fixture = try StorageFixture()
    let (database, other) = (try fixture.open(), try fixture.open())
    for number in 1...300 {
      for _ in 0..<12 { _ = try count(database) }
      try other.write { try $0.add("item") }
      #expect(try count(database) == Int64(number))
      #expect(try count(other) == Int64(number))
    }
  }

  @Test("see commits of the same handle on every thread")
  func seeOwnCommits() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    let committed = Atomic(0)
    let wrong = Atomic(0)
    let threads = (0..<3).compactMap { _ in
      SystemThread {
        while committed.load(ordering: .sequentiallyConsistent) < 400 {
          let least = committed.load(ordering: .sequentiallyConsistent)
          let seen = (try? self.count(database)) ?? -1
          if seen < least { wrong.add(1, ordering: .relaxed) }
        }
      }
    }
    for number in 1...400 {
      try database.write { try $0.add("item") }
      committed.store(number, ordering: .sequentiallyConsistent)
    }
    for thread in threads { thread.join() }
    #expect(wrong.load(ordering: .relaxed) == 0)
  }

  @Test("do not prevent a complete checkpoint while they pause")
  func letGo() throws {
    let fixture = try StorageFixture()
    let (database, other) = (try fixture.open(), try fixture.open())
    try other.write { try $0.add("one") }
    for _ in 0..<100 { _ = try count(database) }
    try other.write { try $0.add("two") }
    var wal = 1
    for _ in 0..<6000 where wal > 0 {
      usleep(20_000)
      try other.shrink()
      wal = try fixture.bytes(fixture.path + "-wal").count
    }
    #expect(wal == 0)
  }

  @Test("allow a complete checkpoint while they continue, here and by another handle")
  func makeRoom() throws {
    let fixture = try StorageFixture()
    let (database, other) = (try fixture.open(), try fixture.open { $0.busyTimeout = 300_000 })
    let isOver = Atomic(false)
    let threads = (0..<3).compactMap { _ in
      SystemThread { while !isOver.load(ordering: .relaxed) { _ = try? self.count(database) } }
    }
    let start = Clock.monotonic.now()
    for round in 0..<4 {
      try other.write { try $0.add("item") }
      try (round % 2 == 0 ? other : database).shrink()
    }
    let took = Clock.monotonic.now() - start
    isOver.store(true, ordering: .relaxed)
    for thread in threads { thread.join() }
    // Waiting for readers that never end takes the busy timeout, each time.
    #expect(took < 300_000)
  }

  @Test("end the transaction after a failure, and continue")
  func fail() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    for number in 0..<100 {
      _ = try? database.read { _ in
        if number % 3 == 0 { throw SatchelError(.io, "made up") }
      }
      #expect(try count(database) == 0)
    }
    try database.close()
    #expect(throws: SatchelError.self) { try count(database) }
  }
}
