import Foundation
import SatchelStorageTesting
import SatchelTesting
import Testing

import SatchelCore
import SatchelStorage

/// Each operation on the disk fails once, or from then on, one after the other: the store is always in the
/// state before or after the call, and each error has its code.
@Suite("Disk failures at every operation")
struct FaultSweepTests {
  let fixture: StorageFixture
  private static let before = 40
  private static let added = 25

  struct Fault: Sendable, CustomTestStringConvertible {
    var operation: FaultyDisk.Operation
    var kind: FaultyDisk.Kind
    var isForGood: Bool
    var testDescription: String { "\(operation) \(kind)\(isForGood ? " for good" : "")" }
  }

  static let faults = FaultyDisk.Operation.allCases.flatMap { operation in
    // Only operations that change a file can fail for lack of space.
    FaultyDisk.Kind.allCases.filter { $0 == .io || operation == .write }.flatMap { kind in
      [false, true].map { Fault(operation: operation, kind: kind, isForGood: $0) }
    }
  }

  init() throws { fixture = try StorageFixture() }

  /// Repeats `act` from the same initial state with the n-th operation failing, until there are no more
  /// operations: with every n, or the first and every third one in a portion.
  ///
  /// - Returns: the number of failures
  @discardableResult
  private func sweep(
    _ fault: Fault, from bytes: [UInt8]?, keepsOpen: Bool, act: (Database?, FaultyDisk) throws -> Void,
    verify: (_ isDone: Bool, _ n: Int) throws -> Void
  ) throws -> Int {
    var failures = 0
    for n in 1...2000 where n < 4 || Portion.includes(n, parts: 3) {
      if let bytes { try fixture.put(bytes) } else { try clear() }
      let disk = try FaultyDisk()
      let database = keepsOpen ? try open(disk) : nil
      disk.fail(fault.operation, at: n, fault.kind, forGood: fault.isForGood)
      var error: SatchelError?
      do {
        try act(database, disk)
      } catch let met as SatchelError {
        error = met
      }
      let isHit = disk.hits > 0
      if let error {
        failures += 1
        #expect(isHit)
        let names: Set<SatchelError.Code> = fault.kind == .io ? [.io, .readOnly] : [.full, .io, .readOnly]
        #expect(names.contains(error.code), "\(fault.testDescription), n = \(n): \(error.code): \(error)")
        if fault.operation == .write, fault.kind != .io { #expect(error.code == .full) }
      }
      disk.heal()
      if let database, !database.isClosed {
        // The handle is still usable.
        try database.write { try $0.add("next") }
        try database.close()
      }
      try verify(error == nil, n)
      if !isHit { return failures }
    }
    Issue.record("no end")
    return failures
  }

  private func open(_ disk: FaultyDisk) throws -> Database {
    try fixture.open {
      $0.vfsName = disk.name
      $0.durability = .full
      $0.busyTimeout = 100
    }
  }

  private func clear() throws {
    for name in try fixture.listing() {
      try FileManager.default.removeItem(at: fixture.directory.appending(path: name))
    }
  }

  /// Opens the store without faults, and checks that it is valid and has `count` items.
  private func items(_ path: String? = nil) throws -> Int {
    let database = try fixture.open(path)
    #expect(try database.checkIntegrity().isEmpty)
    let names = try database.read { try $0.names() }
    try database.close()
    return names.count
  }

  @Test("a write is complete or absent, and the handle stays usable", arguments: faults)
  func write(fault: Fault) throws {
    let bytes = try fixture.makeStore(items: Self.before)
    try sweep(fault, from: bytes, keepsOpen: true) { database, _ in
      try database?.write { transaction in
        for number in 0..<Self.added {
          try transaction.add("\(number)" + String(repeating: "y", count: number * 400))
        }
      }
    } verify: { isDone, n in
      let count = try items() - 1
      #expect(count == Self.before + Self.added || !isDone && count == Self.before, "n = \(n): \(count)")
    }
  }

  @Test("a store opens, reads, writes and closes, or throws the cause", arguments: faults)
  func session(fault: Fault) throws {
    let bytes = try fixture.makeStore(items: Self.before)
    try sweep(fault, from: bytes, keepsOpen: false) { _, disk in
      let database = try open(disk)
      _ = try database.read { try $0.names() }
      try database.write { try $0.add("one") }
      try database.close()
    } verify: { isDone, n in
      let count = try items()
      #expect(count == Self.before + 1 || !isDone && count == Self.before, "n = \(n): \(count)")
    }
  }

  @Test("a failed creation of a store can be repeated", arguments: faults)
  func make(fault: Fault) throws {
    try sweep(fault, from: nil, keepsOpen: false) { _, disk in
      let database = try open(disk)
      try database.write { try $0.add("first") }
      try database.close()
    } verify: { isDone, n in
      let count = try items()
      #expect(count == 1 || !isDone && count == 0, "n = \(n): \(count)")
    }
  }

  @Test("the tables of a subject are created completely or not at all", arguments: faults)
  func migrate(fault: Fault) throws {
    let bytes = try fixture.makeStore(items: Self.before)
    let subject = SubjectSchema(
      name: "things",
      migrations: [
        Migration(version: 1, sql: "CREATE TABLE thing(x); INSERT INTO thing SELECT name FROM item"),
        Migration(version: 2, sql: "ALTER TABLE thing ADD COLUMN y; CREATE INDEX thing_x ON thing(x)"),
      ])
    try sweep(fault, from: bytes, keepsOpen: true) { database, _ in
      try database?.prepare(subject)
    } verify: { isDone, n in
      let database = try fixture.open()
      #expect(try database.has(subject) || !isDone, "n = \(n)")
      try database.prepare(subject)
      #expect(try database.read { try $0.number("SELECT count(*) FROM thing WHERE y IS NULL") } >= 40)
      #expect(try database.checkIntegrity().isEmpty)
      try database.close()
    }
  }

  @Test("a backup is complete, or the earlier one is kept", arguments: faults)
  func backup(fault: Fault) throws {
    let bytes = try fixture.makeStore(items: 60)
    let target = fixture.path + ".backup"
    let earlier = try fixture.open()
    try earlier.backup(to: target)
    try earlier.close()
    let good = try fixture.bytes(target)
    // Nothing is deleted or truncated, and no WAL is created, so these operations may succeed.
    let mustFail = [FaultyDisk.Operation.read, .write, .open].contains(fault.operation)
    let failures = try sweep(fault, from: bytes, keepsOpen: true) { database, _ in
      try Data(good).write(to: URL(filePath: target))
      try database?.write { try $0.add("newer") }
      try database?.backup(to: target)
    } verify: { isDone, n in
      let count = try items(target)
      #expect(count == 61 || !isDone && count == 60, "n = \(n): \(count)")
      #expect(try fixture.listing().allSatisfy { !$0.contains("part") }, "n = \(n)")
    }
    #expect(failures > 0 || !mustFail)
  }

  @Test(
    "a disk full at any byte fails the whole write, and later writes succeed when there is space"
  )
  func full() throws {
    let bytes = try fixture.makeStore(items: Self.before)
    var refused = 0
    for size in stride(from: 0, through: 400_000, by: 3111) {
      try fixture.put(bytes)
      let disk = try FaultyDisk()
      let database = try open(disk)
      disk.setFreeSpace(size)
      let code = try code {
        try database.write { transaction in
          for number in 0..<Self.added { try transaction.add(String(repeating: "z", count: number * 500)) }
        }
      }
      #expect([nil, .full].contains(code))
      refused += code == nil ? 0 : 1
      #expect(try database.read { try $0.items() } == Int64(Self.before + (code == nil ? Self.added : 0)))
      disk.heal()
      try database.write { try $0.add("next") }
      try database.close()
      #expect(try items() == Self.before + (code == nil ? Self.added : 0) + 1)
    }
    #expect(refused > 10 && refused < 120)
  }
}
