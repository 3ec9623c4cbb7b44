import Foundation
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("A commit is in the WAL when it returns")
struct CommitTests {
  private let fixture: StorageFixture
  private let disk: FaultyDisk

  init() throws {
    fixture = try StorageFixture()
    disk = try FaultyDisk()
  }

  private static let page = String(repeating: "x", count: 4000)

  /// The files that a new process finds after all others were killed: the database and its WAL, without the
  /// WAL index.
  private func namesAfterKill() throws -> [String] {
    let copy = fixture.path + "-copy"
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + end) }
    for end in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: fixture.path + end, toPath: copy + end)
    }
    let database = try fixture.open(copy)
    defer { try? database.close() }
    #expect(try database.checkIntegrity() == [])
    return try database.read { try $0.names() }
  }

  @Test("whatever the transaction did", arguments: Portion.of(0..<20))
  func commits(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let database = try fixture.open(on: disk, seed.isMultiple(of: 2) ? .full : .relaxed)
    // Pages are spilled to the WAL and read back before the commit, and are written there again.
    try database.maintain { try $0.execute("PRAGMA cache_size = 10") }
    var names: [String] = []
    for _ in 0..<30 {
      let isKept = random.next() % 4 > 0
      let before = names
      do {
        try database.write { transaction in
          try change(&names, random.next() % 40, &random, in: transaction)
          let inner = names
          do {
            try database.write { transaction in
              try change(&names, random.next() % 40, &random, in: transaction)
              if random.next().isMultiple(of: 2) { throw CocoaError(.userCancelled) }
            }
          } catch is CocoaError { names = inner }
          #expect(try transaction.connection.names() == names)
          if !isKept { throw CocoaError(.userCancelled) }
        }
      } catch is CocoaError { names = before }
      #expect(try database.read { try $0.names() } == names)
      #expect(try namesAfterKill() == names)
    }
    try database.close()
  }

  /// Adds rows of different lengths, and changes some existing ones.
  private func change(
    _ names: inout [String], _ count: UInt64, _ random: inout SeededRandom, in transaction: Transaction
  ) throws {
    for _ in 0..<count {
      let name = "\(random.next())" + String(repeating: "y", count: Int(random.next() % 9000))
      if let old = names.indices.randomElement(using: &random), random.next().isMultiple(of: 3) {
        try transaction.connection.run(
          "UPDATE item SET name = ? WHERE id = (SELECT id FROM item ORDER BY id LIMIT 1 OFFSET ?)",
          .text(name), .integer(Int64(old)))
        names[old] = name
      } else {
        try transaction.add(name)
        names.append(name)
      }
    }
  }

  @Test(
    "frames that could not be written are neither lost nor treated as written",
    arguments: FaultyDisk.Kind.allCases)
  func failures(kind: FaultyDisk.Kind) throws {
    let database = try fixture.open(on: disk, .relaxed)
    try database.maintain { try $0.execute("PRAGMA cache_size = 10") }
    try database.write { try $0.add("0") }
    var expected = ["0"]
    var failed = 0
    for n in 1...140 where Portion.includes(n, parts: 4) {
      disk.fail(.write, at: n, kind)
      let text = "\(n)" + Self.page
      do {
        try database.write { transaction in
          for _ in 0..<40 { try transaction.add(text) }
        }
        expected += Array(repeating: text, count: 40)
      } catch is SatchelError { failed += 1 }
      disk.heal()
      #expect(try database.read { try $0.names() } == expected)
      #expect(try namesAfterKill() == expected)
    }
    #expect(failed > 1 && expected.count > 80)
    try database.close()
  }
}
