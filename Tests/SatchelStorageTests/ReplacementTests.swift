import Foundation
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("A store that is restored while it is opened")
struct ReplacementTests {
  private let fixture: StorageFixture
  private let disk: FaultyDisk
  private var backup: String { fixture.path + ".backup" }

  init() throws {
    fixture = try StorageFixture()
    disk = try FaultyDisk()
  }

  /// Makes a store with five items and a backup with three, and restores the backup between SQLite's opening of
  /// the store and its first lock.
  ///
  /// - Parameter afterwards: called when the store is restored, before the first handle goes on
  private func prepare(afterwards: @escaping () throws -> Void = {}) throws {
    try fixture.makeStore(withBackup: backup)
    let (fixture, backup) = (fixture, backup)
    disk.afterNextOpening {
      let restore = StoreRestore(migrations: StorageFixture.schema, subjects: [])
      #expect(throws: Never.self) {
        try restore.restore(backup: backup, to: fixture.path)
        try afterwards()
      }
    }
  }

  @Test("is opened as restored, and its WAL gets no page of the earlier file")
  func written() throws {
    try prepare()
    let database = try fixture.open { $0.vfsName = disk.name }
    #expect(try database.read { try $0.names() } == ["0", "1", "2"])
    try database.write { try $0.add("by the first") }
    let other = try fixture.open()
    try other.write { try $0.add("by the second") }
    for each in [database, other] {
      #expect(try each.read { try $0.names() } == ["0", "1", "2", "by the first", "by the second"])
    }
    try database.close()
    #expect(try other.checkIntegrity().isEmpty)
    try other.close()
  }

  @Test("is opened read-only as restored")
  func read() throws {
    try prepare()
    let database = try fixture.open {
      $0.vfsName = disk.name
      $0.isReadOnly = true
    }
    #expect(try database.read { try $0.names() } == ["0", "1", "2"])
    try database.close()
  }

  @Test("does not spoil another handle's commits, in whose WAL it would write")
  func rival() throws {
    let fixture = fixture
    var rival: Database?
    try prepare {
      rival = try fixture.open()
      try rival?.write { try $0.add("by the rival") }
    }
    let database = try fixture.open { $0.vfsName = disk.name }
    try database.write { try $0.add("by the first") }
    let other = try #require(rival)
    for each in [database, other] {
      #expect(try each.read { try $0.names() } == ["0", "1", "2", "by the rival", "by the first"])
      try each.close()
    }
    let last = try fixture.open()
    #expect(try last.read { try $0.names().count } == 5)
    #expect(try last.checkIntegrity().isEmpty)
    try last.close()
  }

  @Test("is not replaced while its file is made, and does not replace one that is made meanwhile")
  func created() throws {
    try prepare()
    let (backup, path) = (backup, fixture.path + ".new-one")
    let restore: @Sendable () throws -> Void = {
      var options = StoreOptions()
      options.busyTimeout = 0
      try StoreRestore(migrations: StorageFixture.schema, subjects: [], options: options).restore(
        backup: backup, to: path)
    }
    let database = try fixture.open(path) {
      $0.fileCalls.rename = { from, to in
        let error = #expect(throws: SatchelError.self) { try restore() }
        #expect(error?.code == .busy)
        return rename(from, to)
      }
    }
    try database.write { try $0.add("kept") }
    #expect(throws: SatchelError.self) { try restore() }
    #expect(try database.read { try $0.names() } == ["kept"])
    try database.close()
    try restore()
    let restored = try fixture.open(path)
    #expect(try restored.read { try $0.names() } == ["0", "1", "2"])
    try restored.close()
  }
}
