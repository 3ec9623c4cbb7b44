import Dispatch
import Testing

import SatchelCore
import SatchelStorage

@Suite("Closing")
struct GateTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  @Test("close waits for calls in progress; later calls throw .closed", arguments: [true, false])
  func closeWaits(isWrite: Bool) throws {
    let database = try fixture.open()
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let call = Background {
      if isWrite {
        try database.write { transaction in
          entered.signal()
          mayLeave.wait()
          try transaction.add("x")
          // A nested call belongs to the outer one, which `close` waits for.
          try database.write { try $0.add("y") }
          #expect(try database.read { try $0.items() } == 2)
        }
      } else {
        try database.read { connection in
          entered.signal()
          mayLeave.wait()
          let count = try connection.items()
          #expect(count == 0)
        }
      }
    }
    entered.wait()
    let closing = Background { try database.close() }
    #expect(!closing.ends(within: 0.2), "closed under a call")
    #expect(database.isClosed)
    #expect(try code { try database.read { _ in } } == .closed)
    mayLeave.signal()
    try call.finish()
    try closing.finish()
    #expect(try fixture.open().read { try $0.items() } == (isWrite ? 2 : 0))
  }

  @Test("after close every call throws .closed, including close")
  func afterwards() throws {
    let database = try fixture.open()
    try database.close()
    #expect(database.isClosed)
    #expect(try code { try database.read { _ in } } == .closed)
    #expect(try code { try database.write { _ in } } == .closed)
    #expect(try code { try database.maintain { _ in } } == .closed)
    #expect(try code { _ = try database.observe { _ in } } == .closed)
    #expect(try code { _ = try database.checkIntegrity() } == .closed)
    #expect(try code { try database.close() } == .closed)
  }

  @Test("of many concurrent calls of close one succeeds, and all return after the store is closed")
  func manyClose() throws {
    for _ in 0..<20 {
      let database = try fixture.open()
      let calls = (0..<4).map { number in
        Background { _ = try code { try database.write { try $0.add("\(number)") } } }
      }
      let closings = (0..<3).map { _ in Background { try database.close() } }
      let outcomes = try closings.map { closing in try code { try closing.finish() } }
      #expect(outcomes.filter { $0 == nil }.count == 1)
      #expect(outcomes.filter { $0 == .closed }.count == 2)
      for call in calls { try call.finish() }
    }
    #expect(try fixture.listing() == ["store"])
  }

  @Test(
    "the last write before close is in the file; close throws its error, and closes the store anyway")
  func beforeClose() throws {
    let good = try fixture.open()
    good.beforeClosing(isNeeded: { _ in true }) { try $0.add("last") }
    try good.close()
    let bad = try fixture.open()
    bad.beforeClosing(isNeeded: { _ in true }) { transaction in
      try transaction.add("never")
      throw SatchelError(.full, "no room")
    }
    #expect(try code { try bad.close() } == .full)
    #expect(bad.isClosed)
    #expect(try fixture.open().read { try $0.names() } == ["last"])
  }

  @Test("a released store closes itself, and leaves no WAL")
  func givenUp() throws {
    do {
      let database = try fixture.open()
      let subscription = try database.observe { _ in }
      try database.write { try $0.add("x") }
      _ = try database.read { try $0.items() }
      subscription.cancel()
    }
    #expect(try fixture.listing() == ["store"])
    do {
      // A store that is only read, on several threads at once.
      let database = try fixture.open()
      let readers = (0..<4).map { _ in
        Background { for _ in 0..<20 { _ = try database.read { try $0.names() } } }
      }
      for reader in readers { try reader.finish() }
      try database.close()
    }
    #expect(try fixture.listing() == ["store"])
  }

  @Test("steps run once when the store closes; one that is added meanwhile runs at once")
  func closingSteps() throws {
    let database = try fixture.open()
    let ran = Locked<[String]>([])
    database.whenClosing { database in
      ran.withLock { $0.append("first") }
      database.whenClosing { _ in ran.withLock { $0.append("late") } }
      ran.withLock { $0.append("end of first") }
    }
    database.whenClosing { _ in ran.withLock { $0.append("second") } }
    try database.close()
    #expect(ran.withLock { $0 } == ["first", "late", "end of first", "second"])
  }

  @Test("a worker runs its work in order, and stop waits for the work in progress")
  func worker() throws {
    let worker = Worker()
    let observed = ObservedChanges()
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    @Sendable func note(_ key: String) {
      observed.add(Change(subject: .test, keys: [key], place: nil, isOwn: true, revision: 0))
    }
    try worker.add { note("a") }
    try worker.add {
      entered.signal()
      mayLeave.wait()
      note("b")
    }
    try worker.add { note("given up") }
    entered.wait()
    let stopping = Background { worker.stop() }
    #expect(!stopping.ends(within: 0.1))
    mayLeave.signal()
    try stopping.finish()
    try worker.add { note("too late") }
    #expect(observed.keys == ["a", "b"])
  }
}
