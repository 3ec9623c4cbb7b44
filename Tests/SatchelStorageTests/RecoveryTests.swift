import Foundation
import SatchelTesting
import Testing

import SatchelCore
import SatchelStorage

@Suite("Recovery of a damaged store")
struct RecoveryTests {
  let fixture: StorageFixture
  let sound: [UInt8]
  let pages: [RecoveryFixture.Page]
  var target: String { fixture.path + ".saved" }
  private static let tables = ["item", "pair", "thing", "large"]
  var recovery: StoreRecovery {
    StoreRecovery(
      migrations: RecoveryFixture.schema, subjects: [RecoveryFixture.others, RecoveryFixture.things])
  }

  /// Created once for all tests.
  private static let made = Result {
    let fixture = try StorageFixture()
    let database = try fixture.open(migrations: RecoveryFixture.schema)
    try RecoveryFixture.fill(database, 1...Int64(RecoveryFixture.count))
    try database.close()
    return (bytes: try fixture.bytes(), pages: try RecoveryFixture.pages(fixture.path))
  }

  init() throws {
    fixture = try StorageFixture()
    (sound, pages) = try Self.made.get()
    try fixture.put(sound)
  }

  /// Recovers a store, checks the result, and deletes it.
  @discardableResult
  private func recover() throws -> (report: RecoveryReport, counts: [String: Int], wrong: [String]) {
    let before = try fixture.bytes()
    let report = try recovery.recover(damaged: fixture.path, into: target)
    #expect(try fixture.bytes() == before)
    let database = try fixture.open(target, migrations: RecoveryFixture.schema)
    #expect(try database.checkIntegrity().isEmpty)
    let (counts, wrong) = try RecoveryFixture.examine(database)
    for table in report.tables where Self.tables.contains(table.name) {
      #expect(table.rows == counts[table.name] ?? 0, "\(table)")
    }
    try database.close()
    let left = try fixture.listing().filter {
      $0 != "store" && $0 != "store.saved" && !$0.hasPrefix("store-")
    }
    #expect(left.isEmpty)
    try FileManager.default.removeItem(atPath: target)
    return (report, counts, wrong)
  }

  private func total(_ table: String) -> Int { RecoveryFixture.count / (table == "large" ? 20 : 1) }

  private func destroy(_ numbers: some Sequence<Int>, _ generator: inout SeededRandom) throws {
    var bytes = sound
    for number in numbers {
      for offset in (number - 1) * 4096..<number * 4096 {
        bytes[offset] = UInt8.random(in: 0...255, using: &generator)
      }
    }
    try fixture.put(bytes)
  }

  @Test("everything is recovered from an undamaged store, and row numbers continue")
  func whole() throws {
    let (report, counts, wrong) = try recover()
    #expect(report.isComplete && !report.isHeaderLost && !report.isSchemaLost)
    for table in Self.tables { #expect(counts[table] == total(table)) }
    #expect(wrong.isEmpty)
    #expect(report.tables.first { $0.name == "setting" }?.rows == 2)
  }

  @Test("for any destroyed pages, all rows on other pages are recovered", arguments: Portion.of(0..<12))
  func randomPages(seed: Int) throws {
    var generator = SeededRandom(seed: UInt64(seed))
    // Not sqlite_schema, and not the pointer maps; more pages in each round, sometimes including roots.
    let candidates = pages.filter { $0.number > 1 && $0.table != "sqlite_schema" }.map(\.number)
    let damaged = Set(candidates.shuffled(using: &generator).prefix([1, 2, 5, 20, 60, 150][seed % 6]))
    try destroy(damaged, &generator)
    let (report, counts, wrong) = try recover()
    #expect(wrong.isEmpty)
    for table in Self.tables {
      let lost = RecoveryFixture.rows(of: table, on: damaged, pages)
      #expect(counts[table] ?? 0 == total(table) - lost, "\(table), seed \(seed)")
      let recovered = try #require(report.tables.first { $0.name == table })
      let own = pages.filter { $0.table == table && damaged.contains($0.number) }
      #expect(recovered.lostPages == own.filter { $0.kind != "overflow" }.count, "\(table), seed \(seed)")
      #expect((recovered.lostRows + recovered.lostPages > 0) == !own.isEmpty)
    }
    let isHit = pages.contains { damaged.contains($0.number) && report.tables.map(\.name).contains($0.table) }
    #expect(report.isComplete == !isHit)
  }

  @Test("destroyed interior pages, including roots, lose no row of a table with row numbers")
  func innerPages() throws {
    var generator = SeededRandom(seed: 1)
    let inner = Set(pages.filter { $0.kind == "internal" && $0.number > 1 }.map(\.number))
    #expect(inner.count >= 4)
    try destroy(inner, &generator)
    let (_, counts, wrong) = try recover()
    #expect(wrong.isEmpty)
    #expect(counts["item"] == total("item"))
    #expect(counts["thing"] == total("thing"))
    #expect(counts["pair"] == total("pair") - RecoveryFixture.rows(of: "pair", on: inner, pages))
  }

  @Test("with a destroyed header everything is recovered", arguments: [0, 0xFF, 0x53] as [UInt8])
  func header(byte: UInt8) throws {
    var bytes = sound
    for offset in 0..<100 { bytes[offset] = byte }
    try fixture.put(bytes)
    let (report, counts, wrong) = try recover()
    #expect(report.isHeaderLost && report.isComplete)
    for table in Self.tables { #expect(counts[table] == total(table)) }
    #expect(wrong.isEmpty)
  }

  @Test("with an unreadable sqlite_schema the tables are identified from their page layout")
  func schema() throws {
    var generator = SeededRandom(seed: 2)
    try destroy([1], &generator)
    let (report, counts, wrong) = try recover()
    #expect(report.isSchemaLost && report.isHeaderLost)
    for table in Self.tables { #expect(counts[table] == total(table)) }
    #expect(wrong.isEmpty)
  }

  @Test("a truncated store yields the rows before the cut", arguments: [3, 10, 40, 70, 99])
  func truncated(percent: Int) throws {
    let length = sound.count * percent / 100
    try fixture.put(Array(sound[..<length]))
    let (_, counts, wrong) = try recover()
    #expect(wrong.isEmpty)
    let lost = Set(pages.map(\.number).filter { $0 * 4096 > length })
    for table in Self.tables {
      #expect(
        counts[table] ?? 0 == total(table) - RecoveryFixture.rows(of: table, on: lost, pages), "\(table)")
    }
  }

  @Test("the WAL's content is recovered with the rest, and replaces damaged pages")
  func wal() throws {
    let database = try fixture.open(migrations: RecoveryFixture.schema)
    let more = Int64(RecoveryFixture.count + 1)...Int64(RecoveryFixture.count + 200)
    try RecoveryFixture.fill(database, more)
    let crashed = fixture.path + ".crashed"
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: crashed + suffix)
    }
    try database.close()
    var bytes = try fixture.bytes(crashed)
    for offset in 0..<100 { bytes[offset] = 0xFF }
    try Data(bytes).write(to: URL(filePath: crashed))
    let wal = try fixture.bytes(crashed + "-wal")
    let report = try recovery.recover(damaged: crashed, into: target)
    #expect(report.isComplete)
    #expect(try fixture.bytes(crashed) == bytes && fixture.bytes(crashed + "-wal") == wal)
    let saved = try fixture.open(target, migrations: RecoveryFixture.schema)
    let (counts, wrong) = try RecoveryFixture.examine(saved)
    #expect(counts["item"] == RecoveryFixture.count + 200)
    #expect(wrong.isEmpty)
    // The WAL is next to the target of a symbolic link.
    let link = fixture.path + ".link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: crashed)
    let linked = try recovery.recover(damaged: link, into: target + ".linked")
    #expect(linked.tables.map(\.rows) == report.tables.map(\.rows))
  }

  @Test(
    "for any changed bytes recovery does not trap, and the recovered store is valid",
    arguments: Portion.of(0..<15))
  func anyBytes(seed: Int) throws {
    var generator = SeededRandom(seed: UInt64(seed) + 1000)
    var bytes = sound
    for _ in 0..<[1, 10, 100, 1000, 10_000][seed % 5] {
      bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
    }
    try fixture.put(bytes)
    do {
      try recover()
    } catch let error as SatchelError {
      #expect([.foreign, .newer].contains(error.code), "\(error)")
    }
  }

  @Test("assigned row numbers are not reused after their rows are lost")
  func sequences() throws {
    try StorageFixture.plain(fixture.path, "DELETE FROM large WHERE id > 1000")
    _ = try recovery.recover(damaged: fixture.path, into: target)
    let saved = try fixture.open(target, migrations: RecoveryFixture.schema)
    let next = try saved.write { transaction in
      try transaction.connection.run("INSERT INTO large(body) VALUES(x'00')")
      return transaction.connection.lastInsertedRow
    }
    #expect(next == Int64(RecoveryFixture.count) + 1)
    let value = try saved.read { try $0.number("SELECT value FROM setting WHERE name = 'second'") }
    #expect(value == 7)
  }

  @Test("foreign files, invalid paths and cancellation leave no files")
  func refused() throws {
    let other = fixture.path + ".other"
    try StorageFixture.plain(other, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)")
    let text = fixture.path + ".txt"
    try Data(String(repeating: "notes ", count: 2000).utf8).write(to: URL(filePath: text))
    let before = try fixture.listing()
    for path in [other, text] {
      #expect(try code { _ = try recovery.recover(damaged: path, into: target) } == .foreign)
    }
    #expect(try code { _ = try recovery.recover(damaged: fixture.path + ".no", into: target) } == .notFound)
    #expect(try code { _ = try recovery.recover(damaged: fixture.path, into: fixture.path) } == .invalid)
    #expect(try code { _ = try recovery.recover(damaged: fixture.path, into: "") } == .invalid)
    #expect(
      try code { _ = try recovery.recover(damaged: fixture.path, into: fixture.path + ".no/x") } == .notFound)
    #expect(
      try code { _ = try recovery.recover(damaged: fixture.path, into: target) { _, _ in false } }
        == .cancelled)
    try StorageFixture.plain(fixture.path, "PRAGMA user_version = 9")
    #expect(try code { _ = try recovery.recover(damaged: fixture.path, into: target) } == .newer)
    #expect(try fixture.listing() == before)
  }
}
