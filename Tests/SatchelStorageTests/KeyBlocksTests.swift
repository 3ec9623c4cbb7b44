import Foundation
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("KeyBlocks, the sorted list of an index of hashes")
struct KeyBlocksTests {
  private static let schema = [
    Migration(
      version: 1,
      sql: ChangeLog.schema + "CREATE TABLE key(first INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;")
  ]
  private let blocks = KeyBlocks(
    KeyBlocks.Statements(
      find: "SELECT first, entries FROM key WHERE first <= ? ORDER BY first DESC LIMIT 1",
      next: "SELECT first FROM key WHERE first > ? ORDER BY first LIMIT 1",
      put: "INSERT OR REPLACE INTO key(first, entries) VALUES(?, ?)",
      delete: "DELETE FROM key WHERE first = ?",
      all: "SELECT first, entries FROM key ORDER BY first"))
  private let fixture: StorageFixture
  private let database: Database

  init() throws {
    fixture = try StorageFixture()
    database = try fixture.open(migrations: Self.schema)
  }

  private func rows(_ hash: Int64) throws -> [Int64] {
    try database.read { connection in
      var rows: [Int64] = []
      try blocks.rows(of: hash, connection) { row in
        rows.append(row)
        return true
      }
      return rows
    }
  }

  private func add(_ entries: [KeyBlocks.Entry]) throws {
    try database.write { try blocks.add(entries.sorted { $0 < $1 }, $0.connection) }
  }

  /// Returns all entries, and whether each is in its position.
  private func all() throws -> [[Int64]] {
    try database.read { connection in
      var entries: [[Int64]] = []
      try blocks.all(connection, visit: { entries.append([$0.hash, $0.row]) }) { entry in
        Issue.record("\(entry) is misplaced")
      }
      return entries
    }
  }

  @Test("contains added entries, and no removed ones", arguments: 0..<8)
  func model(seed: UInt64) throws {
    var random = SystemRandomNumberGenerator()
    var dice = SeededRandom(seed: seed)
    var model: [Int64: Set<Int64>] = [:]
    // Few hashes collide; many fill blocks.
    let most: Int64 = [3, 200, 5000, .max][Int(seed % 4)]
    func someHash() -> Int64 { Int64.random(in: -most...most, using: &dice) }
    for _ in 0..<30 {
      var entries: [KeyBlocks.Entry] = []
      for _ in 0..<Int.random(in: 0..<300, using: &dice) {
        entries.append((someHash(), Int64.random(in: 0..<1000, using: &dice)))
      }
      // Existing entries are not duplicated.
      if let old = model.randomElement(using: &random), let row = old.value.first {
        entries.append((old.key, row))
      }
      let distinct = Set(entries.map { [$0.hash, $0.row] }).map { ($0[0], $0[1]) }
      try add(distinct)
      for (hash, row) in distinct { model[hash, default: []].insert(row) }
      for (hash, kept) in model.shuffled(using: &random).prefix(40) {
        guard let row = kept.first else { continue }
        try database.write { try blocks.remove((hash, row), $0.connection) }
        model[hash]?.remove(row)
      }
      try database.write { try blocks.remove((someHash(), -1), $0.connection) }
    }
    for (hash, kept) in model { #expect(try rows(hash) == kept.sorted()) }
    for _ in 0..<100 {
      let hash = someHash()
      #expect(try rows(hash) == (model[hash] ?? []).sorted())
    }
    let expected = model.flatMap { hash, rows in rows.map { [hash, $0] } }
    #expect(try all() == expected.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) })
  }

  @Test("the limits of the range")
  func ends() throws {
    #expect(try rows(0).isEmpty)
    try add([(.min, 1), (.max, 2), (0, 3)])
    #expect(try rows(.min) == [1] && rows(.max) == [2] && rows(0) == [3] && rows(1).isEmpty)
    for entry in [(Int64.min, Int64(1)), (0, 3), (.max, 2)] {
      try database.write { try blocks.remove(entry, $0.connection) }
    }
    #expect(try all().isEmpty)
    try add([(-5, 7)])
    #expect(try rows(-5) == [7])
  }

  @Test("a block stays small, unless its hashes are equal")
  func blockSizes() throws {
    try add((0..<10_000).map { (Int64($0) &* 0x1E37_79B9_7F4A_7C15, $0) })
    let longest = try database.read { try $0.number("SELECT max(length(entries)) FROM key") }
    #expect(longest <= Int64(KeyBlocks.maxEntries * 16))
    try add((0..<500).map { (77, $0) })
    #expect(try rows(77) == Array(0..<500))
  }

  @Test("a malformed block is .damaged, and does not trap")
  func damaged() throws {
    try add([(1, 1)])
    try database.write { try $0.connection.run("UPDATE key SET entries = x'0102'") }
    #expect(try code { _ = try rows(1) } == .damaged)
    #expect(try code { try add([(2, 2)]) } == .damaged)
    #expect(try code { try database.write { try blocks.remove((1, 1), $0.connection) } } == .damaged)
  }
}
