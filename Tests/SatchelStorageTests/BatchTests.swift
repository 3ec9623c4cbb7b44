import Synchronization
import Testing

import SatchelCore
import SatchelStorage

@Suite("Transactions across calls")
struct BatchTests {
  private func items(_ database: Database) throws -> Int64 {
    try database.read { try $0.number("SELECT count(*) FROM item") }
  }

  private func write(_ database: Database) throws {
    try database.write {
      try $0.add("one")
      $0.note(subject: .test, keys: ["one"], place: nil)
    }
  }

  @Test("other readers see a batch's writes when it ends")
  func whatABatchWroteIsSeenByOthersWhenItEnds() throws {
    let fixture = try StorageFixture()
    let (database, other) = (try fixture.open(), try fixture.open())
    try database.begin()
    try write(database)
    try write(database)
    #expect(try items(database) == 2)
    #expect(try items(other) == 0)
    try database.commit()
    #expect(try items(other) == 2)
  }

  @Test("a batch that is rolled back changes nothing")
  func aBatchThatIsRolledBackLeavesNothing() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    try database.begin()
    try write(database)
    try database.rollback()
    #expect(try items(database) == 0)
    try write(database)
    #expect(try items(database) == 1)
  }

  @Test("the rollback of an inner batch affects only that batch")
  func anInnerBatchUndoesOnlyItself() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    let observed = Mutex(0)
    let subscription = try database.observe { _ in observed.withLock { $0 += 1 } }
    defer { subscription.cancel() }
    try database.begin()
    try write(database)
    try database.begin()
    try write(database)
    try database.rollback()
    try database.begin()
    try write(database)
    try database.commit()
    #expect(observed.withLock { $0 } == 0)
    try database.commit()
    #expect(try items(database) == 2)
    #expect(observed.withLock { $0 } == 2)
  }

  @Test("a batch that was not begun cannot be ended")
  func whatWasNotBegunCannotBeEnded() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    for end in [database.commit, database.rollback] {
      let error = #expect(throws: SatchelError.self) { try end() }
      #expect(error?.code == .invalid)
    }
    try database.begin()
    // A batch that began outside `write` does not end inside it.
    #expect(throws: SatchelError.self) { try database.write { _ in try database.commit() } }
    try database.rollback()
  }

  @Test("a write that leaves a batch open fails")
  func aWriteThatLeavesABatchOpenFails() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    let error = #expect(throws: SatchelError.self) {
      try database.write { _ in
        try write(database)
        try database.begin()
        try write(database)
      }
    }
    #expect(error?.code == .invalid)
    #expect(try items(database) == 0)
    try write(database)
    #expect(try items(database) == 1)
  }

  @Test("the commit of the outermost batch runs its checks once")
  func theEndOfTheOutermostRunsItsChecksOnce() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    let runs = Mutex(0)
    try database.begin()
    for _ in 0..<3 {
      try database.write { $0.beforeCommit(once: "count") { _ in runs.withLock { $0 += 1 } } }
    }
    #expect(runs.withLock { $0 } == 0)
    try database.commit()
    #expect(runs.withLock { $0 } == 1)
    #expect(throws: SatchelError.self) {
      try database.write {
        try write(database)
        $0.beforeCommit(once: "refuse") { _ in throw SatchelError(.invalid, "refused") }
      }
    }
    #expect(try items(database) == 0)
  }

  @Test("close rolls back the open batches of the thread")
  func closingUndoesWhatTheThreadHasNotEnded() throws {
    let fixture = try StorageFixture()
    let database = try fixture.open()
    try database.begin()
    try write(database)
    try database.close()
    #expect(try items(fixture.open()) == 0)
    let error = #expect(throws: SatchelError.self) { try database.begin() }
    #expect(error?.code == .closed)
  }
}
