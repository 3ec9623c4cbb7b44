import Foundation
import SatchelStorageTesting
import SatchelTesting
import Testing

import SatchelCore
import SatchelStorage

/// Every operation on the disk of one handle fails once, or from then on; then another handle and another
/// process commit, and then the first handle is used again. Its remaining writes must not destroy what the
/// others committed.
@Suite("Disk failures of one of several handles")
struct FaultSharingTests {
  let fixture: StorageFixture
  private static let before = 10
  /// Enough for several large writes of the WAL.
  private static let added = 25
  private static let text = String(repeating: "x", count: 3000)
  /// The items that the handle adds before its disk fails.
  private static let first = "first"

  /// The first failed call of the handle after the others have committed. Reading and writing use different
  /// connections.
  enum NextCall: CaseIterable { case read, write, close }

  init() throws { fixture = try StorageFixture() }

  @Test("the other process: commits on request")
  func committer() throws {
    guard let role = OtherProcess.role("committer") else {
      _ = try fixture.makeStore()
      try Self.commit(9, to: fixture.path)
      return
    }
    try OtherCommitter.serve(role.path) { try Self.commit($0, to: role.path) }
  }

  /// Opens the store, adds items of its own, and closes it.
  private static func commit(_ number: UInt8, to path: String) throws {
    var options = StoreOptions()
    options.durability = .full
    let database = try Database.open(path: path, options: options, migrations: StorageFixture.schema)
    try database.write { try $0.add("process \(number) \(text)") }
    try database.close()
  }

  @Test(
    "after a failed write no commit of others is lost", arguments: FaultSweepTests.faults)
  func write(fault: FaultSweepTests.Fault) throws {
    try sweep(fault) { disk, added in
      let database = try open(disk)
      try database.write { try $0.add(Self.first) }
      disk.fail(fault)
      let failure = try code { try add(added, to: database) }
      return (database, failure == nil ? [Self.first] + added : [Self.first])
    }
  }

  @Test(
    "after a failed open no commit of others is lost", arguments: FaultSweepTests.faults)
  func open(fault: FaultSweepTests.Fault) throws {
    try sweep(fault) { disk, added in
      disk.fail(fault)
      var database: Database?
      let failure = try code {
        database = try open(disk)
        if let database { try add(added, to: database) }
      }
      return (database, failure == nil ? added : [])
    }
  }

  private func open(_ disk: SweptDisk) throws -> Database {
    try fixture.open {
      $0.vfsName = disk.disk.name
      $0.durability = .full
      $0.busyTimeout = 100
    }
  }

  private func add(_ names: [String], to database: Database) throws {
    try database.write { transaction in for name in names { try transaction.add(name) } }
  }

  /// Makes the n-th operation of the first handle fail, for each n until there are no more operations.
  ///
  /// - Parameter act: opens the first handle, and adds the names; returns it with the acknowledged names
  private func sweep(
    _ fault: FaultSweepTests.Fault,
    act: (SweptDisk, [String]) throws -> (Database?, acknowledged: [String])
  ) throws {
    let bytes = try fixture.makeStore(items: Self.before)
    let other = try OtherCommitter("FaultSharingTests/committer", fixture.path)
    let names = (0..<Self.added).map { "first \($0) " + String(repeating: "y", count: $0 * 400) }
    // Each call follows each fault; the last n fails no operation. A run has every fourth step.
    for step in 0..<1500 where Portion.includes(step, parts: 4) {
      let (n, call) = (step / 3 + 1, NextCall.allCases[step % 3])
      let place: Comment = "\(fault.testDescription), n = \(n), then \(call)"
      try fixture.put(bytes)
      let disk = SweptDisk(disk: try FaultyDisk(), n: n)
      let second = try fixture.open { $0.durability = .full }
      _ = try second.read { try $0.items() }
      let (first, acknowledged) = try act(disk, names)
      let isHit = disk.disk.hits > 0

      var expected = Set(acknowledged)
      for number in 0..<15 {
        let name = "second \(number) \(Self.text)"
        try second.write { try $0.add(name) }
        expected.insert(name)
      }
      let number = UInt8(step % 256)
      try other.commit(number)
      expected.insert("process \(number) \(Self.text)")

      disk.disk.heal()
      do {
        if let first { try use(first, call, &expected, place) }
        try second.close()
        try verify(expected, mayHave: Set(names), place)
      } catch {
        Issue.record(error, place)
        return
      }
      if !isHit, !Portion.isWhole || call == NextCall.allCases.last { return }
    }
    Issue.record("no end")
  }

  private func use(
    _ database: Database, _ call: NextCall, _ expected: inout Set<String>, _ place: Comment
  ) throws {
    switch call {
    case .read:
      let found = Set(try database.read { try $0.names() })
      #expect(found.isSuperset(of: expected), place)
    case .write:
      try database.write { try $0.add("later") }
      expected.insert("later")
    case .close: break
    }
    try database.close()
  }

  /// Checks that all acknowledged commits are complete, and each other one is complete or absent.
  private func verify(_ expected: Set<String>, mayHave names: Set<String>, _ place: Comment) throws {
    let database = try fixture.open()
    #expect(try database.checkIntegrity().isEmpty, place)
    let all = try database.read { try $0.names() }
    let found = Set(all)
    #expect(found.count == all.count, place)
    let others = found.subtracting(names).filter { !$0.hasPrefix("item ") }
    #expect(others == expected.subtracting(names), place)
    #expect(found.filter { $0.hasPrefix("item ") }.count == Self.before, place)
    #expect(expected.isSubset(of: found), place)
    #expect(names.isSubset(of: found) || names.isDisjoint(with: found), place)
    try database.close()
  }
}

/// A disk whose n-th operation fails.
private struct SweptDisk {
  let disk: FaultyDisk
  let n: Int

  func fail(_ fault: FaultSweepTests.Fault) {
    disk.fail(fault.operation, at: n, fault.kind, forGood: fault.isForGood)
  }
}

/// Another process that commits on request, and reports each commit.
private final class OtherCommitter {
  /// The maximum duration of a commit in seconds: far more than it needs.
  private static let timeout: Int32 = 120
  private let process: OtherProcess
  private let orders: Int32
  private let answers: Int32

  struct Silent: Error {}

  init(_ test: String, _ path: String) throws {
    for name in Self.pipes(path) { try #require(mkfifo(name, 0o600) == 0) }
    // Opened for reading and writing, so that opening does not wait for the other process.
    orders = Glibc.open(Self.pipes(path)[0], O_RDWR)
    answers = Glibc.open(Self.pipes(path)[1], O_RDWR)
    try #require(orders >= 0 && answers >= 0)
    process = try OtherProcess(test, "committer", "a", path)
  }

  deinit {
    close(orders)
    close(answers)
  }

  private static func pipes(_ path: String) -> [String] { [path + ".orders", path + ".answers"] }

  func commit(_ number: UInt8) throws {
    var byte = number
    try #require(Glibc.write(orders, &byte, 1) == 1)
    var waiting = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, Self.timeout * 1000) == 1, Glibc.read(answers, &byte, 1) == 1, byte == number
    else { throw Silent() }
  }

  /// In the other process: commits on request until the pipe is closed.
  static func serve(_ path: String, commit: (UInt8) throws -> Void) throws {
    let orders = Glibc.open(pipes(path)[0], O_RDONLY)
    let answers = Glibc.open(pipes(path)[1], O_WRONLY)
    try #require(orders >= 0 && answers >= 0)
    var byte: UInt8 = 0
    while Glibc.read(orders, &byte, 1) == 1 {
      try commit(byte)
      try #require(Glibc.write(answers, &byte, 1) == 1)
    }
  }
}
