import Foundation
import SatchelJSON
import SatchelStorage
import Synchronization
import SatchelTesting
import Testing

@testable import SatchelRecords

@Suite("The journal")
struct JournalTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  /// A table of names, each of which must be there once.
  private struct Names: Sendable {
    let database: Database
    let journal: Journal

    init(_ fixture: StateFixture, calls: FileCalls? = nil) throws {
      database = try fixture.database()
      journal =
        calls.map { Journal(spill: SpillFile(store: fixture.path, calls: $0)) } ?? Journal(path: fixture.path)
      try database.write {
        try $0.connection.execute("CREATE TABLE IF NOT EXISTS name(id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
      }
      journal.register("name") { entry, transaction, _ in
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
      try journal.perform(in: database, entry: { ["name": .string(name)] }) { try Names.add(name, $0) }
        .isSpilled
    }

    func all() throws -> [String] {
      try database.read { connection in
        var names: [String] = []
        try connection.each("SELECT name FROM name ORDER BY id") { names.append($0.text(0)) }
        return names
      }
    }
  }

  @Test("what the store takes is not spilled; what it refuses is the caller's")
  func plain() throws {
    let names = try Names(fixture)
    #expect(try names.add("a") == false)
    #expect(try stateCode { try names.add("bad") } == .invalid)
    #expect(try names.all() == ["a"])
    #expect(!fixture.isSpilled)
    let outcome = try names.journal.perform(in: names.database, entry: { .null }, { _ in 7 })
    #expect(outcome.result == 7)
  }

  @Test("a store that is busy is tried four times, with growing pauses; then the entry is spilled, and told")
  func busy() throws {
    let names = try Names(fixture)
    let heard = StateHeard()
    let subscription = try names.database.observe { heard.add($0) }
    let blocker = try fixture.block()
    let start = ContinuousClock.now
    var isSpilled = false
    let waits = try Work.waits { isSpilled = try names.add("a") }
    #expect(isSpilled)
    #expect(ContinuousClock.now - start >= .milliseconds(20 + 100 + 400 + 4 * 50))
    #expect(heard.keys == ["@spilled"])
    #expect(try names.all() == [])
    // What follows goes behind it after one try. (The fewest waits of some: locks and the disk add others.)
    let later = try (1...4).map { number in try Work.waits { _ = try names.add("\(number)") } }
    let fewest = try #require(later.min())
    #expect(fewest * 2 < waits)
    try blocker.rollback()
    #expect(try names.add("b") == false)
    #expect(try names.all() == ["a", "1", "2", "3", "4", "b"])
    #expect(heard.keys == Array(repeating: "@spilled", count: 5) + ["@replayed"])
    #expect(!fixture.isSpilled)
    subscription.cancel()
  }

  @Test("a store that is busy for a moment only is waited for")
  func momentarilyBusy() throws {
    let names = try Names(fixture)
    let blocked = DispatchSemaphore(value: 0)
    try stateThreads(2) { number in
      guard number == 0 else {
        let blocker = try fixture.block()
        blocked.signal()
        usleep(150_000)
        return try blocker.rollback()
      }
      blocked.wait()
      #expect(try names.add("a") == false)
    }
    #expect(try names.all() == ["a"])
    #expect(!fixture.isSpilled)
  }

  @Test("a full disk spills at once; freed again, all is taken in, in order and once")
  func full() throws {
    let names = try Names(fixture)
    try names.database.maintain { try $0.execute("PRAGMA max_page_count = 8") }
    let long = String(repeating: "x", count: 20_000)
    #expect(try names.add(long + "1"))
    #expect(try names.add("small"))
    #expect(try stateCode { try names.journal.replay(in: names.database) } == .full)
    #expect(names.journal.isSpilled)
    try names.database.maintain { try $0.execute("PRAGMA max_page_count = 100000") }
    #expect(try names.journal.replay(in: names.database).applied == 2)
    #expect(try names.all() == [long + "1", "small"])
    #expect(try names.journal.replay(in: names.database) == JournalReplay())
  }

  @Test("entries that the store refuses are kept with the reason, and do not stop the others")
  func refused() throws {
    let names = try Names(fixture)
    let heard = StateHeard()
    let subscription = try names.database.observe { heard.add($0) }
    let spill = SpillFile(store: fixture.path)
    for name in ["a", "bad 1", "b", "late", "c"] { try spill.append(Array("{\"name\":\"\(name)\"}".utf8)) }
    try spill.append(Array("{\"unknown\":1}".utf8))
    try spill.append(Array("no JSON".utf8))
    let report = try names.journal.replay(in: names.database)
    #expect(report.applied == 3 && report.refused == 4 && report.damages.isEmpty)
    #expect(try names.all() == ["a", "b", "c"])
    #expect(heard.keys.contains("@refused") && heard.keys.contains("@replayed"))
    let refused = try names.journal.refused(in: names.database)
    let entries = refused.map { String(decoding: $0.entry, as: UTF8.self) }
    #expect(entries == ["{\"name\":\"bad 1\"}", "{\"name\":\"late\"}", "{\"unknown\":1}", "no JSON"])
    #expect(refused.first?.reason == "“bad 1” is bad")
    #expect(refused.first?.json["entry"] == ["name": "bad 1"])
    #expect(refused.last?.json["entry"] == .null)
    let id = try #require(refused.first?.id)
    #expect(try names.journal.forgetRefused(id, in: names.database))
    #expect(try !names.journal.forgetRefused(id, in: names.database))
    #expect(try names.journal.refused(in: names.database).count == 3)
    try spill.append([1])
    #expect(
      try names.journal.check(names.database).map(\.code) == ["spilled"]
        + Array(repeating: "refused_change", count: 3))
    subscription.cancel()
  }

  @Test("a replay that is cut short goes on where it was, and nothing is applied twice")
  func onceOnly() throws {
    let names = try Names(fixture)
    let spill = SpillFile(store: fixture.path)
    for number in 0..<5 { try spill.append(Array("{\"name\":\"\(number)\"}".utf8)) }
    let content = try Data(contentsOf: URL(filePath: fixture.spillPath))
    try names.journal.replay(in: names.database)
    // As after a crash between the commit and the end of the file; and with an entry behind it.
    try content.write(to: URL(filePath: fixture.spillPath))
    try spill.append(Array("{\"name\":\"5\"}".utf8))
    let report = try Journal.reopened(names.journal, fixture).replay(in: names.database)
    #expect(report.applied == 1)
    #expect(try names.all() == ["0", "1", "2", "3", "4", "5"])
    #expect(!fixture.isSpilled)
  }

  @Test("what cannot be read of the file is told, set aside and noted; what is sound is taken in")
  func damaged() throws {
    let names = try Names(fixture)
    let heard = StateHeard()
    let subscription = try names.database.observe { heard.add($0) }
    let spill = SpillFile(store: fixture.path)
    var ends: [Int] = []
    for name in ["a", "b", "c"] {
      try spill.append(Array("{\"name\":\"\(name)\"}".utf8))
      ends.append(try Data(contentsOf: URL(filePath: fixture.spillPath)).count)
    }
    var bytes = try Data(contentsOf: URL(filePath: fixture.spillPath))
    bytes[ends[1] - 4] ^= 1
    try bytes.write(to: URL(filePath: fixture.spillPath))
    let report = try names.journal.replay(in: names.database)
    #expect(report.applied == 2 && report.damages.count == 1)
    #expect(try names.all() == ["a", "c"])
    #expect(heard.keys.contains("@spill_damaged"))
    #expect(try names.journal.refused(in: names.database).map(\.reason) == report.damages)
    #expect(!fixture.isSpilled)
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
    #expect(files.contains { $0.hasPrefix("store.spill") })
    subscription.cancel()
  }

  @Test("when both fail, the error says both causes")
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
    #expect(error.message.contains("spill file"))
    #expect((error.underlying as? SatchelError)?.code == .full)
    try blocker.rollback()
    #expect(try names.add("a") == false)
  }

  @Test("what runs only once is tried again by its entry, and spilled when it came to its end")
  func onlyOnce() throws {
    let names = try Names(fixture)
    let runs = Mutex(0)
    func batch(failing: SatchelError? = nil) throws -> JournalOutcome<Int> {
      try names.journal.perform(in: names.database, entry: { ["name": "from the entry"] }, repeatsBody: false)
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
    #expect(outcome.result == 1 && !outcome.isSpilled)
    #expect(runs.withLock { $0 } == 1)
    #expect(try names.all() == ["from the entry"])
    // A body that failed half way may have said half: it is the caller's.
    #expect(try stateCode { _ = try batch(failing: SatchelError(.full, "the disk")) } == .full)
    #expect(!fixture.isSpilled)
  }

  @Test("inside a transaction it is a part of that, and shares its fate")
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
    #expect(!fixture.isSpilled)
  }
}

extension Journal {
  /// Another one for the same file, with the same kinds.
  fileprivate static func reopened(_ journal: Journal, _ fixture: StateFixture) -> Journal {
    let other = Journal(path: fixture.path)
    other.register("name") { entry, transaction, database in
      try journal.apply(["name": entry], in: transaction, of: database)
    }
    return other
  }
}
