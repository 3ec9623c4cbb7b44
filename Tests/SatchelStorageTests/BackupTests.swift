import Foundation
import SatchelTesting
import Testing

import SatchelCore
import SatchelStorage

@Suite("Backups")
struct BackupTests {
  let fixture: StorageFixture
  var target: String { fixture.path + ".backup" }
  init() throws { fixture = try StorageFixture() }

  /// Returns the content of a backup, opened as a store, after checking it.
  private func content(_ path: String) throws -> [String] {
    let backup = try fixture.open(path)
    #expect(try backup.checkIntegrity().isEmpty)
    let names = try backup.read { try $0.names() }
    try backup.close()
    return names
  }

  private func fill(_ database: Database, _ items: Range<Int>) throws {
    try database.write { transaction in
      for number in items { try transaction.add("item \(number) " + String(repeating: "x", count: 1000)) }
    }
  }

  @Test("a backup is a store with the same content, including the WAL's, and reports its progress")
  func whole() throws {
    let database = try fixture.open()
    try fill(database, 0..<10_000)
    var observed: [(Int, Int)] = []
    let report = try database.backup(to: target) {
      observed.append(($0, $1))
      return true
    }
    #expect(report.path == target)
    #expect(report.bytes == Int64(try fixture.bytes(target).count))
    #expect(report.bytes == Int64(report.pages) * 4096)
    #expect(observed.count > 3)
    #expect(zip(observed, observed.dropFirst()).allSatisfy { $0.0 <= $1.0 })
    #expect(try #require(observed.last) == (report.pages, report.pages))
    #expect(try content(target) == database.read { try $0.names() })
    // No other file is left there, and the backup needs no WAL.
    #expect(try fixture.listing() == ["store", "store-shm", "store-wal", "store.backup"])
    // The second backup replaces the first.
    try fill(database, 10_000..<10_010)
    try database.backup(to: target)
    #expect(try content(target).count == 10_010)
  }

  @Test(
    "a backup cancelled at any time leaves no file, and keeps the earlier backup",
    arguments: [1, 2, 3, 4, 5, 6])
  func cancelled(calls: Int) throws {
    let database = try fixture.open()
    try fill(database, 0..<6000)
    var reported = 0
    let attempt: () throws -> Void = {
      reported = 0
      try database.backup(to: target) { _, _ in
        reported += 1
        return reported < calls
      }
    }
    #expect(try code(of: attempt) == .cancelled)
    #expect(try fixture.listing().allSatisfy { !$0.contains("backup") })
    try database.backup(to: target)
    let earlier = try fixture.bytes(target)
    try fill(database, 6000..<6010)
    #expect(try code(of: attempt) == .cancelled)
    #expect(try fixture.bytes(target) == earlier)
    #expect(try fixture.listing().allSatisfy { !$0.contains("part") })
  }

  @Test("the other process: writes until it is killed, ten items a transaction")
  func writer() throws {
    let role = OtherProcess.role("writer")
    let database = try fixture.open(role?.path)
    for round in 0... {
      try database.write { transaction in
        for number in 0..<10 { try transaction.add("other \(round) \(number)") }
      }
      if role == nil { break }
    }
    #expect(try database.read { try $0.items() } == 10)
  }

  @Test(
    "while a thread and a process write, each backup is a consistent snapshot, later ones contain more"
  )
  func writtenMeanwhile() throws {
    let database = try fixture.open()
    try fill(database, 0..<3000)
    let other = try OtherProcess("BackupTests/writer", "writer", "a", fixture.path)
    let isOver = Locked(false)
    let thread = Background {
      var round = 0
      while !isOver.withLock({ $0 }) {
        try database.write { transaction in
          for number in 0..<10 { try transaction.add("own \(round) \(number)") }
        }
        round += 1
      }
    }
    while try database.read({ try $0.number("SELECT count(*) FROM item WHERE name LIKE 'other%'") }) == 0 {}
    var counts: [Int] = []
    for _ in 0..<5 {
      let before = try database.read { try $0.items() }
      try database.backup(to: target) { _, _ in
        // Slow enough for many commits meanwhile.
        usleep(20_000)
        return true
      }
      #expect(try database.read { try $0.items() } > before + 20)
      let names = try content(target)
      // All ten items of a transaction, or none.
      let written = names.filter { !$0.hasPrefix("item") }
      for (_, items) in Dictionary(grouping: written, by: { $0.split(separator: " ").dropLast() }) {
        #expect(items.count == 10)
      }
      counts.append(names.count)
    }
    isOver.withLock { $0 = true }
    try thread.finish()
    other.kill()
    #expect(counts == counts.sorted() && Set(counts).count == 5)
    #expect(try database.checkIntegrity().isEmpty)
  }

  @Test("the store itself is never overwritten, by any path that names it")
  func ontoItself() throws {
    let database = try fixture.open()
    try fill(database, 0..<10)
    let files = FileManager.default
    let link = fixture.directory.path + "/link"
    try files.createSymbolicLink(atPath: link, withDestinationPath: fixture.path)
    let hard = fixture.directory.path + "/hard"
    try files.linkItem(atPath: fixture.path, toPath: hard)
    let odd = fixture.directory.path + "/./../" + fixture.directory.lastPathComponent + "/store"
    let own = ["-wal", "-shm", ".outbox"].flatMap { [fixture.path + $0, odd + $0] }
    for path in [fixture.path, odd, link, hard] + own {
      #expect(try code { _ = try database.backup(to: path) } == .invalid, "\(path)")
    }
    #expect(try database.read { try $0.items() } == 10)
    #expect(try database.checkIntegrity().isEmpty)
  }

  @Test("invalid targets and files that are not backups are errors and stay unchanged")
  func badPaths() throws {
    let database = try fixture.open()
    #expect(try code { _ = try database.backup(to: "") } == .invalid)
    #expect(try code { _ = try database.backup(to: "a\u{0}b") } == .invalid)
    #expect(try code { _ = try database.backup(to: ":memory:") } == .invalid)
    #expect(try code { _ = try database.backup(to: fixture.path + ".no/backup") } == .notFound)
    #expect(try code { _ = try database.backup(to: fixture.directory.path) } == .foreign)
    let foreign = fixture.path + ".txt"
    try Data("notes".utf8).write(to: URL(filePath: foreign))
    #expect(try code { _ = try database.backup(to: foreign) } == .foreign)
    #expect(try fixture.bytes(foreign) == Array("notes".utf8))
    // Another store, which is open.
    let other = try fixture.open(fixture.path + ".other")
    try other.write { try $0.add("theirs") }
    #expect(try code { _ = try database.backup(to: other.path) } == .busy)
    #expect(try other.read { try $0.names() } == ["theirs"])
    #expect(try code { try database.write { _ in _ = try database.backup(to: target) } } == .invalid)
    try database.close()
    #expect(try code { _ = try database.backup(to: target) } == .closed)
  }

  @Test("of two concurrent backups to one path one throws .busy, and the file is complete")
  func atOnce() throws {
    let database = try fixture.open()
    try fill(database, 0..<3000)
    var inner: SatchelError.Code?
    try database.backup(to: target) { done, total in
      if done < total, inner == nil { inner = try? code { _ = try database.backup(to: target) } }
      return true
    }
    #expect(inner == .busy)
    #expect(try content(target).count == 3000)
  }

  @Test("a store in memory and a read-only store can be backed up")
  func memoryAndReadOnly() throws {
    let memory = try fixture.open(":memory:")
    try fill(memory, 0..<100)
    try memory.backup(to: target)
    #expect(try content(target).count == 100)
    let readOnly = try fixture.open(target) { $0.isReadOnly = true }
    try readOnly.backup(to: target + ".2")
    #expect(try content(target + ".2").count == 100)
  }

  @Test("the backup of a damaged store fails, and the earlier backup stays")
  func damaged() throws {
    var bytes = try fixture.makeStore(items: 500)
    let database = try fixture.open()
    try database.backup(to: target)
    try database.close()
    let good = try fixture.bytes(target)
    for offset in 10 * 4096..<11 * 4096 { bytes[offset] = 0xA5 }
    try fixture.put(bytes)
    let broken = try fixture.open()
    #expect(try code { _ = try broken.backup(to: target) } == .damaged)
    #expect(try fixture.bytes(target) == good)
    try broken.close()
    #expect(try fixture.listing() == ["store", "store.backup"])
  }

  @Test("a backup has the permissions of the store")
  func mode() throws {
    let database = try fixture.open()
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.path)
    try database.backup(to: target)
    #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o600)
  }
}
