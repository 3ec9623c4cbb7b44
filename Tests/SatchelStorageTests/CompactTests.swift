import Foundation
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Compacting a store")
struct CompactTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  /// A store of which nine tenths were deleted: some thousand pages.
  private func emptied(_ database: Database) throws {
    try database.write { transaction in
      for number in 0..<2000 {
        try transaction.add("\(number) " + String(repeating: "x", count: 4000))
      }
    }
    try database.write { try $0.connection.run("DELETE FROM item WHERE id % 10 <> 0") }
  }

  private func freePages(_ database: Database) throws -> Int64 {
    try database.read { try $0.number("PRAGMA freelist_count") }
  }

  @Test("the file becomes smaller, the content stays, and the progress is that of the unused pages")
  func smaller() throws {
    let database = try fixture.open()
    try emptied(database)
    let (before, total) = try (database.pageBytes(), Int(freePages(database)))
    var seen: [Int] = []
    let report = try database.compact { done, all in
      #expect(all == total)
      seen.append(done)
      return true
    }
    #expect(seen == seen.sorted() && seen.first == 0 && seen.last == total && seen.count > 5)
    #expect(report.freePages == 0 && report.bytes == before - report.fileBytes)
    #expect(report.fileBytes < before / 5)
    #expect(try fixture.bytes().count == Int(report.fileBytes))
    #expect(try database.read { try $0.items() } == 200)
    #expect(try database.compact().bytes == 0)
    #expect(try database.checkIntegrity().isEmpty)
    try database.close()
  }

  @Test("what was released before the caller cancelled stays so, and the next call continues")
  func cancelled() throws {
    let database = try fixture.open()
    try emptied(database)
    let before = try freePages(database)
    var steps = 0
    #expect(
      try code(of: {
        _ = try database.compact { _, _ in
          steps += 1
          return steps < 3
        }
      }) == .cancelled)
    let left = try freePages(database)
    #expect(left < before && left > 0)
    #expect(try database.compact().freePages == 0)
    try database.close()
  }

  @Test("others write and read between the steps")
  func others() throws {
    let database = try fixture.open()
    try emptied(database)
    let other = try fixture.open { $0.busyTimeout = 0 }
    var written = 0
    _ = try database.compact { _, _ in
      // The progress is reported between two steps, when no lock is held.
      try? other.write { try $0.add("meanwhile \(written)") }
      written += 1
      return true
    }
    #expect(written > 5)
    #expect(try other.read { try $0.items() } == 200 + written)
    try other.close()
    try database.close()
  }

  @Test("a transaction of the thread, and a store opened read-only, are refused")
  func refused() throws {
    let database = try fixture.open()
    #expect(try code { try database.write { _ in _ = try database.compact() } } == .invalid)
    try database.close()
    let reader = try fixture.open { $0.isReadOnly = true }
    #expect(try code { _ = try reader.compact() } == .readOnly)
    try reader.close()
  }

  @Test(
    "a disk that fails in any step leaves a sound store with all items, and the next call completes it",
    arguments: [FaultyDisk.Operation.write, .sync, .truncate, .read])
  func faults(operation: FaultyDisk.Operation) throws {
    let disk = try FaultyDisk()
    let database = try fixture.open(on: disk, .full)
    var failures = 0
    // The operations of a whole call are too many: samples of them, at growing distances.
    for number in [1, 2, 3, 5, 8, 13, 40, 100, 300] {
      try database.write { try $0.connection.run("DELETE FROM item") }
      try emptied(database)
      // Every second one for good: the thread that checkpoints after large commits may meet a single failure.
      disk.fail(operation, at: number, forGood: number.isMultiple(of: 2))
      if let code = try code(of: { _ = try database.compact() }) {
        #expect([.io, .full, .readOnly].contains(code), "\(operation) \(number): \(code)")
        failures += 1
      }
      disk.heal()
      #expect(try database.read { try $0.items() } == 200)
      #expect(try database.checkIntegrity().isEmpty)
      #expect(try database.compact().freePages == 0)
    }
    // A failed truncation of the WAL's file is left to the next checkpoint.
    #expect(failures > 0 || operation == .truncate || operation == .read)
    try database.close()
  }

  @Test(
    "a WAL is reported when it has more than commits usually leave, and four times the bytes of the database",
    arguments: [
      (65_537_000, 1_000_000, true), (65_000_000, 1_000_000, false), (400_000_000, 100_000_000, false),
    ])
  func longWAL(wal: Int64, database: Int64, isTooLong: Bool) {
    #expect(WALSize(wal: wal, database: database).isTooLong == isTooLong)
  }
}
