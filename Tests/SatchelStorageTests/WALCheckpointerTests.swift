import Foundation
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("A long WAL is checkpointed during further commits")
struct WALCheckpointerTests {
  /// Writes about 1,100 pages: a large commit.
  private static let large = String(repeating: "x", count: 1100 * 4000)
  private static let page = 4096 + 24

  private let fixture: StorageFixture

  init() throws { fixture = try StorageFixture() }

  private func size(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }

  private var walSize: Int { size(fixture.path + "-wal") }

  /// Commits `count` times; returns the largest size of the WAL file.
  @discardableResult
  private func write(_ commits: Int, of text: String = large, to database: Database) throws -> Int {
    var longest = 0
    for _ in 0..<commits {
      try database.write { try $0.add(text) }
      longest = max(longest, walSize)
    }
    return longest
  }

  /// - Returns: whether it became true within two minutes
  private func wait(until isTrue: () -> Bool) -> Bool {
    for _ in 0..<12_000 {
      if isTrue() { return true }
      usleep(10_000)
    }
    return false
  }

  private func expectItems(_ count: Int64) throws {
    let database = try fixture.open()
    #expect(try database.read { try $0.items() } == count)
    #expect(try database.checkIntegrity().isEmpty)
    try database.close()
    #expect(walSize == 0)
  }

  @Test("by a thread, before the store is closed")
  func copies() throws {
    let database = try fixture.open()
    try write(3, to: database)
    #expect(size(fixture.path) < 1 << 20, "a short WAL is not extended or checkpointed")
    try write(1, to: database)
    #expect(wait { size(fixture.path) > 4 * Self.large.count }, "no commit follows")
    try database.close()
    try expectItems(4)
  }

  @Test("and is reset before it far exceeds the limit", arguments: [StoreOptions.Durability.full, .relaxed])
  func beginsAnew(durability: StoreOptions.Durability) throws {
    let database = try fixture.open { $0.durability = durability }
    let longest = try write(40, to: database)
    #expect(longest <= (WALCheckpointer.maxFrames + 2 * 1200) * Self.page)
    #expect(try database.read { try $0.items() } == 40)
    try database.close()
    try expectItems(40)
  }

  @Test("and before it contains more than a few very large commits")
  func beginsAnewAfterLarger() throws {
    let database = try fixture.open()
    let text = String(repeating: "x", count: 6000 * 4000)
    let longest = try write(10, of: text, to: database)
    #expect(longest <= 4 * 6200 * Self.page)
    try database.close()
    try expectItems(10)
  }

  @Test("small commits checkpoint it themselves, before it exceeds SQLite's own limit")
  func small() throws {
    let database = try fixture.open()
    let longest = try write(100, of: String(repeating: "x", count: 100 * 4000), to: database)
    #expect(longest <= (WALCheckpointer.minFrames + 400) * Self.page)
    #expect(longest >= WALCheckpointer.minFrames * Self.page)
    try database.close()
    try expectItems(100)
  }

  @Test("despite a reader, which keeps its snapshot and blocks no commit")
  func reader() throws {
    let database = try fixture.open()
    try write(1, to: database)
    try database.read { connection in
      let before = try connection.items()
      let failure = Locked<String?>(nil)
      let writer = SystemThread {
        do {
          for _ in 0..<25 { try database.write { try $0.add(Self.large) } }
        } catch {
          failure.withLock { $0 = "\(error)" }
        }
      }
      writer?.join()
      #expect(failure.withLock { $0 } == nil)
      let after = try connection.items()
      #expect(before == 1 && after == 1)
    }
    #expect(walSize > WALCheckpointer.maxFrames * Self.page)
    // The WAL file keeps its size, but is reused from its beginning.
    let long = walSize
    try write(20, to: database)
    #expect(walSize <= long + 20 * 1100 * Self.page / 2)
    try database.close()
    try expectItems(46)
  }

  @Test("by several handles in turn, one of which closes")
  func handles() throws {
    let first = try fixture.open()
    let second = try fixture.open()
    for _ in 0..<8 {
      try write(1, to: first)
      try write(1, to: second)
    }
    try second.close()
    try write(6, to: first)
    #expect(try first.read { try $0.items() } == 22)
    try first.close()
    try expectItems(22)
  }

  @Test(
    "a disk failure meanwhile loses no acknowledged commit",
    arguments: FaultyDisk.Operation.allCases)
  func faults(operation: FaultyDisk.Operation) throws {
    let disk = try FaultyDisk()
    let database = try fixture.open {
      $0.vfsName = disk.name
      $0.durability = .full
      $0.busyTimeout = 100
    }
    var acknowledged: Int64 = 0
    // The number of operations of two commits and the concurrent checkpoint.
    let calls = operation == .write || operation == .read ? 1500 : 5
    // In four of the rounds the two commits alone meet a failing sync, however late the thread is.
    for round in 1...30 {
      // Most affect the thread that checkpoints, or the concurrent commit.
      if round % 3 == 0 { disk.fail(operation, at: round * 337 % calls + 1) }
      for _ in 0..<2 {
        do {
          try write(1, to: database)
          acknowledged += 1
        } catch let error as SatchelError {
          #expect(error.code == .io || error.code == .readOnly || error.code == .full, "\(error)")
        }
      }
      disk.heal()
    }
    #expect(acknowledged > 30)
    if operation == .write || operation == .sync { #expect(disk.hits > 3) }
    #expect(try database.read { try $0.items() } == acknowledged)
    try? database.close()
    try expectItems(acknowledged)
  }

  @Test("a process killed meanwhile loses no acknowledged commit")
  func killed() throws {
    if let role = OtherProcess.role("log") {
      let database = try fixture.open(role.path) { $0.durability = .full }
      let acknowledged = try FileHandle(forWritingTo: URL(filePath: role.path + ".acknowledged"))
      while true {
        try database.write { try $0.add(Self.large) }
        acknowledged.write(Data("x".utf8))
      }
    }
    let counter = fixture.path + ".acknowledged"
    #expect(FileManager.default.createFile(atPath: counter, contents: nil))
    try fixture.open().close()
    var before: Int64 = 0
    for turn in 0..<5 {
      let process = try OtherProcess("WALCheckpointerTests/killed", "log", "writer", fixture.path)
      let target = size(counter) + 5 + turn * 2
      #expect(wait { size(counter) >= target })
      process.kill()
      let acknowledged = Int64(size(counter))
      let database = try fixture.open()
      let items = try database.read { try $0.items() }
      // The last commit may be complete without having been acknowledged.
      before += acknowledged
      #expect(items >= before && items <= before + 1)
      before = items
      #expect(try database.checkIntegrity().isEmpty)
      try database.close()
      try Data().write(to: URL(filePath: counter))
    }
  }
}
