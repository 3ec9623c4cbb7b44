import Foundation
import SatchelCore
import SatchelJSON
import SatchelTesting
import Synchronization
import Testing

@testable import SatchelState
@testable import SatchelStorage

@Suite("The outbox")
struct OutboxTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  /// A table of names, each of which must occur once.
  private struct Names: Sendable {
    let database: Database
    let outbox: Outbox

    init(
      _ fixture: StateFixture, calls: FileCalls = .system, _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws {
      database = try fixture.database(nil, change)
      outbox = Outbox(path: fixture.path, calls: calls)
      try database.write {
        try $0.connection.execute("CREATE TABLE IF NOT EXISTS name(id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
      }
      outbox.register("name", of: .state) { entry, transaction, _ in
        try Names.add(entry.stringValue ?? "", transaction)
      }
    }

    static func add(_ name: String, _ transaction: Transaction) throws {
      if name.hasPrefix("bad") { throw SatchelError(.invalid, "“\(name)” is bad") }
      if name.hasPrefix("late") {
        transaction.beforeCommit(once: name) { _ in
          throw SatchelError(.invalid, "“\(name)” is bad in the end")
        }
      }
      try transaction.connection.run("INSERT INTO name(name) VALUES(?)", .text(name))
    }

    @discardableResult
    func add(_ name: String) throws -> Bool {
      try outbox.perform(in: database, entry: { ["name": .string(name)] }) { try Names.add(name, $0) }
        .isSpooled
    }

    func all() throws -> [String] {
      try database.read { connection in
        var names: [String] = []
        try connection.each("SELECT name FROM name ORDER BY id") { names.append($0.text(0)) }
        return names
      }
    }
  }

  @Test("a successful write is not spooled; an error of the write itself is thrown")
  func plain() throws {
    let names = try Names(fixture)
    #expect(try names.add("a") == false)
    #expect(try stateCode { try names.add("bad") } == .invalid)
    #expect(try names.all() == ["a"])
    #expect(!fixture.isSpooled)
    let outcome = try names.outbox.perform(in: names.database, entry: { .null }, { _ in 7 })
    #expect(outcome.result == 7)
  }

  @Test("subjects that were not used register before entries are applied; without them the entries stay")
  func registration() throws {
    let names = try Names(fixture)
    let blocker = try fixture.block()
    #expect(try names.add("a"))
    try blocker.rollback()
    let (outbox, isReleased) = (Outbox(path: fixture.path), Locked(true))
    outbox.completeRegistrations {
      if isReleased.withLock({ $0 }) { return false }
      outbox.register("name", of: .state) { entry, transaction, _ in
        try Names.add(entry.stringValue ?? "", transaction)
      }
      return true
    }
    #expect(try stateCode { try outbox.drain(in: names.database) } == .closed)
    #expect(try fixture.isSpooled && names.all().isEmpty)
    isReleased.withLock { $0 = false }
    #expect(try outbox.drain(in: names.database).applied == 1)
    #expect(try names.all() == ["a"])
  }

  @Test("a busy store is retried four times with backoff; then the entry is spooled and reported")
  func busy() throws {
    let names = try Names(fixture)
    let observed = StateObserved()
    let subscription = try names.database.observe { observed.add($0) }
    let blocker = try fixture.block()
    let start = ContinuousClock.now
    var isSpooled = false
    let waits = try Work.waits { isSpooled = try names.add("a") }
    #expect(isSpooled)
    #expect(ContinuousClock.now - start >= .milliseconds(20 + 100 + 400 + 4 * 50))
    #expect(observed.keys == ["@spooled"])
    #expect(try names.all() == [])
    // Later entries are appended after one try. (The minimum of several durations: locks and the disk add to
    // others.)
    let later = try (1...4).map { number in try Work.waits { _ = try names.add("\(number)") } }
    let fewest = try #require(later.min())
    #expect(fewest * 2 < waits)
    try blocker.rollback()
    #expect(try names.add("b") == false)
    #expect(try names.all() == ["a", "1", "2", "3", "4", "b"])
    #expect(observed.keys == Array(repeating: "@spooled", count: 5) + ["@drained"])
    #expect(!fixture.isSpooled)
    subscription.cancel()
  }

  @Test("a write waits for a store that is busy briefly")
  func momentarilyBusy() throws {
    // Three more attempts follow the first one, which ends while the store is blocked.
    let busyTimeout: Int32 = 2000
    let names = try Names(fixture) { $0.busyTimeout = busyTimeout }
    let blocked = DispatchSemaphore(value: 0)
    try stateThreads(2) { number in
      guard number == 0 else {
        let blocker = try fixture.block()
        blocked.signal()
        usleep(UInt32(busyTimeout + 100) * 1000)
        return try blocker.rollback()
      }
      blocked.wait()
      #expect(try names.add("a") == false)
    }
    #expect(try names.all() == ["a"])
    #expect(!fixture.isSpooled)
  }

  @Test("a full disk spools at once; when space is freed, all entries are drained in order and once")
  func full() throws {
    let names = try Names(fixture)
    try names.database.maintain { try $0.execute("PRAGMA max_page_count = 8") }
    let long = String(repeating: "x", count: 20_000)
    #expect(try names.add(long + "1"))
    #expect(try names.add("small"))
    #expect(try stateCode { try names.outbox.drain(in: names.database) } == .full)
    #expect(names.outbox.isSpooled)
    try names.database.maintain { try $0.execute("PRAGMA max_page_count = 100000") }
    #expect(try names.outbox.drain(in: names.database).applied == 2)
    #expect(try names.all() == [long + "1", "small"])
    #expect(try names.outbox.drain(in: names.database) == OutboxReport())
  }

  @Test("rejected entries are kept with the reason, and do not stop the others")
  func refused() throws {
    let names = try Names(fixture)
    let observed = StateObserved()
    let subscription = try names.database.observe { observed.add($0) }
    let outboxFile = OutboxFile(store: fixture.path)
    for name in ["a", "bad 1", "b", "late", "c"] {
      try outboxFile.append(Array("{\"name\":\"\(name)\"}".utf8))
    }
    try outboxFile.append(Array("{\"unknown\":1}".utf8))
    try outboxFile.append(Array("no JSON".utf8))
    let report = try names.outbox.drain(in: names.database)
    #expect(report.applied == 3 && report.rejected == 4 && report.damages.isEmpty)
    #expect(try names.all() == ["a", "b", "c"])
    #expect(observed.keys.contains("@rejected") && observed.keys.contains("@drained"))
    let refused = try names.outbox.rejected(in: names.database)
    let entries = refused.map { String(decoding: $0.entry, as: UTF8.self) }
    #expect(entries == ["{\"name\":\"bad 1\"}", "{\"name\":\"late\"}", "{\"unknown\":1}", "no JSON"])
    #expect(refused.first?.reason == "“bad 1” is bad")
    #expect(refused.first?.json["entry"] == ["name": "bad 1"])
    #expect(refused.last?.json["entry"] == .null)
    let id = try #require(refused.first?.id)
    #expect(try names.outbox.forgetRejected(id, in: names.database))
    #expect(try !names.outbox.forgetRejected(id, in: names.database))
    #expect(try names.outbox.rejected(in: names.database).count == 3)
    try outboxFile.append([1])
    #expect(
      try names.outbox.check(names.database).map(\.code) == ["spooled"]
        + Array(repeating: "rejected_change", count: 3))
    subscription.cancel()
  }

  @Test("an interrupted drain continues from its position, and applies no entry twice")
  func onceOnly() throws {
    let names = try Names(fixture)
    let outboxFile = OutboxFile(store: fixture.path)
    for number in 0..<5 { try outboxFile.append(Array("{\"name\":\"\(number)\"}".utf8)) }
    let content = try Data(contentsOf: URL(filePath: fixture.outboxPath))
    try names.outbox.drain(in: names.database)
    // As after a crash between the commit and the end of the file; with another entry after it.
    try content.write(to: URL(filePath: fixture.outboxPath))
    try outboxFile.append(Array("{\"name\":\"5\"}".utf8))
    let report = try Outbox.reopened(names.outbox, fixture).drain(in: names.database)
    #expect(report.applied == 1)
    #expect(try names.all() == ["0", "1", "2", "3", "4", "5"])
    #expect(!fixture.isSpooled)
  }

  @Test("the damaged part of the file is reported and quarantined; valid entries are drained")
  func damaged() throws {
    let names = try Names(fixture)
    let observed = StateObserved()
    let subscription = try names.database.observe { observed.add($0) }
    let outboxFile = OutboxFile(store: fixture.path)
    var ends: [Int] = []
    for name in ["a", "b", "c"] {
      try outboxFile.append(Array("{\"name\":\"\(name)\"}".utf8))
      ends.append(try Data(contentsOf: URL(filePath: fixture.outboxPath)).count)
    }
    var bytes = try Data(contentsOf: URL(filePath: fixture.outboxPath))
    bytes[ends[1] - 4] ^= 1
    try bytes.write(to: URL(filePath: fixture.outboxPath))
    let report = try names.outbox.drain(in: names.database)
    #expect(report.applied == 2 && report.damages.count == 1)
    #expect(try names.all() == ["a", "c"])
    #expect(observed.keys.contains("@outbox_damaged"))
    #expect(try names.outbox.rejected(in: names.database).map(\.reason) == report.damages)
    #expect(!fixture.isSpooled)
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
    #expect(files.contains { $0.hasPrefix("store.outbox") })
    subscription.cancel()
  }

  @Test("when both files fail, the error names both causes")
  func bothFail() throws {
    var calls = FileCalls.system
    calls.write = { _, _, _ in
      errno = ENOSPC
      return -1
    }
    let names = try Names(fixture, calls: calls)
    let blocker = try fixture.block()
    let error = try #require(throws: SatchelError.self) { try names.add("a") }
    #expect(error.code == .busy)
    #expect(error.message.contains("locked") || error.message.contains("busy"))
    #expect(error.message.contains("outbox file"))
    #expect((error.underlying as? SatchelError)?.code == .full)
    try blocker.rollback()
    #expect(try names.add("a") == false)
  }

  @Test("a body that can run only once is retried by its entry, and spooled when it completed")
  func onlyOnce() throws {
    let names = try Names(fixture)
    let runs = Mutex(0)
    func batch(failing: SatchelError? = nil) throws -> OutboxOutcome<Int> {
      try names.outbox.perform(in: names.database, entry: { ["name": "from the entry"] }, repeatsBody: false)
      {
        let run = runs.withLock { count in
          count += 1
          return count
        }
        $0.beforeCommit(once: "full") { _ in
          if run == 1 { throw SatchelError(.io, "the disk") }
        }
        if let failing { throw failing }
        try Names.add("from the body", $0)
        return run
      }
    }
    let outcome = try batch()
    #expect(outcome.result == 1 && !outcome.isSpooled)
    #expect(runs.withLock { $0 } == 1)
    #expect(try names.all() == ["from the entry"])
    // A body that failed in the middle may have had effects: its error is thrown.
    #expect(try stateCode { _ = try batch(failing: SatchelError(.full, "the disk")) } == .full)
    #expect(!fixture.isSpooled)
  }

  @Test("a write inside a transaction is part of it, and is committed or rolled back with it")
  func nested() throws {
    let names = try Names(fixture)
    #expect(
      try stateCode {
        try names.database.write { _ in
          try names.add("a")
          throw SatchelError(.full, "the disk")
        }
      } == .full)
    #expect(try names.all() == [])
    #expect(!fixture.isSpooled)
  }

  @Test("an observer of a drain may wait for another thread that writes")
  func observerDuringDrain() throws {
    let names = try Names(fixture)
    let blocker = try fixture.block()
    _ = try names.add("a")
    try blocker.rollback()
    let hasWritten = Mutex<Bool?>(nil)
    let subscription = try names.database.observe { change in
      guard change.keys == ["@drained"] else { return }
      let written = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = try? names.outbox.drain(in: names.database)
        _ = try? names.add("b")
        written.signal()
      }
      let isOver = written.wait(timeout: .now() + 60) == .success
      hasWritten.withLock { $0 = isOver }
    }
    try names.outbox.drain(in: names.database)
    #expect(hasWritten.withLock { $0 } == true)
    #expect(try names.all() == ["a", "b"])
    subscription.cancel()
  }
}

extension Outbox {
  /// Another outbox for the same file, with the same kinds.
  fileprivate static func reopened(_ outbox: Outbox, _ fixture: StateFixture) -> Outbox {
    let other = Outbox(path: fixture.path)
    other.register("name", of: .state) { entry, transaction, database in
      try outbox.apply(["name": entry], in: transaction, of: database)
    }
    return other
  }
}
