import SatchelTesting
import Synchronization
import Testing

import SatchelCore
import SatchelStorage

@Suite("Batches and threads")
struct BatchBindingTests {
  private let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  private func items(_ database: Database) throws -> Int64 { try database.read { try $0.items() } }

  /// Runs `body` on another thread, which must not wait for long.
  private func elsewhere(_ body: @escaping @Sendable () throws -> Void) throws {
    let background = Background(body)
    #expect(background.ends(within: 60), "the thread waits for the batch")
    try background.finish()
  }

  private func carried(_ database: Database) throws -> Int64 { try #require(try database.carriedBatch) }

  @Test("a thread that entered a batch writes in it, and may end it")
  func aThreadThatEntered() throws {
    let database = try fixture.open()
    for isKept in [true, false] {
      try database.begin()
      let batch = try carried(database)
      try database.write { try $0.add("begun") }
      try elsewhere {
        try database.enter(batch)
        #expect(try database.read { try $0.items() } == (isKept ? 1 : 3))
        try database.write { try $0.add("entered") }
        try isKept ? database.commit() : database.rollback()
        #expect(try database.carriedBatch == nil)
      }
      #expect(try code { try database.commit() } == .invalid)
      #expect(try items(database) == 2)
    }
    try database.write { try $0.add("after") }
    #expect(try items(database) == 3)
  }

  @Test("a write outside the batch fails at once on the thread that began it")
  func notAPartOnItsThread() throws {
    let database = try fixture.open { $0.busyTimeout = 120_000 }
    try database.write { try $0.add("before") }
    try elsewhere {
      try database.begin()
      let batch = try #require(try database.carriedBatch)
      try database.write { try $0.add("inside") }
      database.leave()
      #expect(try code { try database.write { try $0.add("beside") } } == .busy)
      #expect(try code { try database.begin() } == .busy)
      #expect(try code { try database.join { try $0.add("beside") } } == .busy)
      // A read sees what is committed.
      #expect(try database.read { try $0.names() } == ["before"])
      try database.enter(batch)
      #expect(try database.read { try $0.names() } == ["before", "inside"])
      try database.rollback()
    }
    #expect(try database.read { try $0.names() } == ["before"])
  }

  @Test("it fails at once even while another thread writes in the batch")
  func notAPartWhileAnotherWrites() throws {
    let database = try fixture.open { $0.busyTimeout = 120_000 }
    try elsewhere {
      try database.begin()
      let batch = try #require(try database.carriedBatch)
      let (began, mayEnd) = (Signal(), Signal())
      let writing = Background {
        try database.enter(batch)
        try database.write { transaction in
          began.raise()
          mayEnd.wait()
          try transaction.add("inside")
        }
      }
      began.wait()
      database.leave()
      #expect(try code { try database.write { try $0.add("beside") } } == .busy)
      mayEnd.raise()
      try writing.finish()
      try database.enter(batch)
      try database.commit()
    }
    #expect(try database.read { try $0.names() } == ["inside"])
  }

  @Test("writes of other threads wait for the batch, and time out", arguments: [false, true])
  func otherThreads(inMemory: Bool) throws {
    let database = try fixture.open(inMemory ? ":memory:" : nil) { $0.busyTimeout = 200 }
    try database.begin()
    try database.write { try $0.add("inside") }
    try elsewhere {
      #expect(try code { try database.write { try $0.add("beside") } } == .busy)
      #expect(try code { try database.begin() } == .busy)
      // A store in memory has one connection, which sees uncommitted changes.
      let read = try code {
        let count = try database.read { try $0.items() }
        #expect(count == 0)
      }
      #expect(read == (inMemory ? .busy : nil))
    }
    database.leave()
    #expect(try code { _ = try items(database) } == (inMemory ? .busy : nil))
    try database.close(expecting: .busy)
  }

  @Test("a waiting write of another thread continues when the batch ends")
  func otherThreadsGoOn() throws {
    let database = try fixture.open { $0.busyTimeout = 600_000 }
    try database.begin()
    try database.write { try $0.add("inside") }
    let waiting = Background { try database.write { try $0.add("beside") } }
    #expect(!waiting.ends(within: 0.1))
    try database.commit()
    try waiting.finish()
    #expect(try database.read { try $0.names() } == ["inside", "beside"])
  }

  @Test("calls of several threads in the batch run one at a time")
  func oneAtATime() throws {
    let database = try fixture.open { $0.busyTimeout = 600_000 }
    try database.begin()
    let batch = try carried(database)
    let inside = Atomic(0)
    let threads = (0..<4).map { _ in
      Background {
        try database.enter(batch)
        for number in 0..<50 {
          try database.write { transaction in
            #expect(inside.add(1, ordering: .relaxed).newValue == 1)
            try transaction.add("\(number)")
            inside.subtract(1, ordering: .relaxed)
          }
          #expect(try database.read { try $0.items() } > 0)
        }
      }
    }
    for thread in threads { try thread.finish() }
    try database.commit()
    #expect(try items(database) == 200)
  }

  @Test("a thread whose batch was rolled back writes nothing outside it, until it leaves")
  func leftOver() throws {
    let database = try fixture.open()
    for isKept in [true, false] {
      try database.begin()
      let batch = try carried(database)
      let (entered, ended) = (Signal(), Signal())
      let other = Background {
        try database.enter(batch)
        entered.raise()
        ended.wait()
        let expected: SatchelError.Code? = isKept ? nil : .invalid
        #expect(try code { try database.write { try $0.add("left over") } } == expected)
        #expect(try code { _ = try database.read { try $0.items() } } == expected)
        #expect(try code { try database.begin() } == expected)
        if isKept { try database.rollback() }
        database.leave()
        try database.write { try $0.add("after") }
      }
      entered.wait()
      try isKept ? database.commit() : database.rollback()
      ended.raise()
      try other.finish()
    }
    #expect(try database.read { try $0.names() } == ["left over", "after", "after"])
    #expect(try code { try database.enter(1 << 60) } == .invalid)
  }

  @Test("a batch inside another one makes other threads of the outer one wait")
  func siblings() throws {
    let database = try fixture.open { $0.busyTimeout = 100 }
    try database.begin()
    let outer = try carried(database)
    try database.begin()
    let inner = try carried(database)
    try elsewhere {
      try database.enter(outer)
      #expect(try code { try database.write { try $0.add("sibling") } } == .busy)
      #expect(try code { _ = try database.read { try $0.items() } } == .busy)
    }
    try database.enter(outer)
    #expect(try code { try database.write { try $0.add("sibling") } } == .busy)
    try database.enter(inner)
    try database.write { try $0.add("inner") }
    try database.commit()
    #expect(try carried(database) == outer)
    try database.write { try $0.add("outer") }
    try database.commit()
    #expect(try database.read { try $0.names() } == ["inner", "outer"])
  }

  @Test("a batch that ends before one inside it rolls back both")
  func outOfOrder() throws {
    let database = try fixture.open { $0.busyTimeout = 100 }
    for end in [database.commit, database.rollback] {
      try database.begin()
      let outer = try carried(database)
      let (begun, ended) = (Signal(), Signal())
      let inner = Background {
        try database.enter(outer)
        try database.begin()
        try database.write { try $0.add("inner") }
        begun.raise()
        ended.wait()
        // The batch is rolled back, and further writes of this thread are not committed without it.
        #expect(try code { try database.write { try $0.add("more") } } == .invalid)
        #expect(try code { try database.commit() } == .invalid)
      }
      begun.wait()
      try database.enter(outer)
      _ = try code { try end() }
      ended.raise()
      try inner.finish()
      #expect(try items(database) == 0)
    }
    try database.write { try $0.add("after") }
    #expect(try items(database) == 1)
  }

  @Test("close rolls back the batch of another thread, and throws")
  func closing() throws {
    let database = try fixture.open { $0.busyTimeout = 120_000 }
    try database.begin()
    let batch = try carried(database)
    try database.write { try $0.add("inside") }
    try elsewhere { try database.close(expecting: .busy) }
    #expect(try code { try database.write { try $0.add("more") } } == .closed)
    #expect(try code { try database.commit() } == .invalid)
    #expect(try code { try database.enter(batch) } == .closed)
    #expect(try items(fixture.open()) == 0)
    #expect(try fixture.listing().contains("store"))
  }

  @Test("writes of many threads are committed or rolled back with their batches", arguments: 0..<4)
  func againstAModel(seed: UInt64) throws {
    let database = try fixture.open { $0.busyTimeout = 600_000 }
    let kept = Locked<Set<String>>([])
    let threads = (0..<3).map { thread in
      Background {
        var random = SeededRandom(seed: seed &* 31 &+ UInt64(thread))
        for round in 0..<12 {
          try database.begin()
          let batch = try #require(try database.carriedBatch)
          let names = Locked<[String]>([])
          let helpers = (0..<Int.random(in: 0...2, using: &random)).map { helper in
            Background {
              try database.enter(batch)
              for number in 0..<3 {
                let name = "\(thread)-\(round)-\(helper)-\(number)"
                try database.write { try $0.add(name) }
                names.withLock { $0.append(name) }
              }
            }
          }
          for helper in helpers { try helper.finish() }
          if Bool.random(using: &random) {
            try database.commit()
            kept.withLock { $0.formUnion(names.withLock { $0 }) }
          } else {
            try database.rollback()
          }
          let name = "\(thread)-\(round)"
          try database.write { try $0.add(name) }
          kept.withLock { _ = $0.insert(name) }
        }
      }
    }
    for thread in threads { try thread.finish() }
    #expect(Set(try database.read { try $0.names() }) == kept.withLock { $0 })
  }
}

extension Database {
  fileprivate func close(expecting expected: SatchelError.Code) throws {
    #expect(try code { try close() } == expected)
  }
}

/// A flag that one thread waits for and another one sets.
private final class Signal: Sendable {
  private let condition = ConditionLock()
  private let isRaised = Locked(false)

  func raise() {
    condition.withLock {
      isRaised.withLock { $0 = true }
      condition.signal()
    }
  }

  func wait() { condition.withLock { while !isRaised.withLock({ $0 }) { condition.wait() } } }
}
