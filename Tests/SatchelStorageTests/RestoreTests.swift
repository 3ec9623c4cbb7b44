import CSQLite
import Foundation
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Restoring")
struct RestoreTests {
  let fixture: StorageFixture
  var backup: String { fixture.path + ".backup" }
  var restore: StoreRestore {
    var options = StoreOptions()
    options.clock = Clock { 42 }
    options.busyTimeout = 0
    return StoreRestore(migrations: StorageFixture.schema, subjects: [subject], options: options)
  }
  private let subject = SubjectSchema(
    name: "things", migrations: [Migration(version: 1, sql: "CREATE TABLE thing(x)")])

  init() throws { fixture = try StorageFixture() }

  /// A backup with three items, and a store with five; closed.
  private func prepare() throws { try fixture.makeStore(withBackup: backup) }

  private func names(_ path: String? = nil) throws -> [String] {
    let database = try fixture.open(path)
    #expect(try database.checkIntegrity().isEmpty)
    let names = try database.read { try $0.names() }
    try database.close()
    return names
  }

  @Test("the target has the backup's content, the earlier store is quarantined, and the backup stays")
  func restored() throws {
    try prepare()
    let before = try (fixture.bytes(), fixture.bytes(backup))
    let report = try restore.restore(backup: backup, to: fixture.path)
    #expect(report.quarantine == fixture.path + ".quarantine-42")
    #expect(try fixture.bytes(fixture.path + ".quarantine-42") == before.0)
    #expect(try fixture.bytes(backup) == before.1)
    #expect(try names() == ["0", "1", "2"])
    #expect(try names(fixture.path + ".quarantine-42").count == 5)
    // The second restore goes to a path without a file.
    let fresh = fixture.path + ".fresh"
    #expect(try restore.restore(backup: backup, to: fresh).quarantine == nil)
    #expect(try names(fresh).count == 3)
  }

  @Test("a store with a WAL is quarantined with the WAL's content, which the restored store does not get")
  func wal() throws {
    try prepare()
    let database = try fixture.open()
    try database.write { try $0.add("in the WAL") }
    let copies = ["", "-wal", "-shm"]
    for suffix in copies {
      try FileManager.default.copyItem(
        atPath: fixture.path + suffix, toPath: fixture.path + ".crashed" + suffix)
    }
    try database.close()
    let target = fixture.path + ".crashed"
    let wal = try fixture.bytes(target + "-wal")
    let aside = try #require(try restore.restore(backup: backup, to: target).quarantine)
    #expect(try names(target) == ["0", "1", "2"])
    #expect(try names(aside).last == "in the WAL")
    // A WAL without its database.
    let orphan = fixture.path + ".orphan"
    try Data(wal).write(to: URL(filePath: orphan + "-wal"))
    #expect(try restore.restore(backup: backup, to: orphan).quarantine == orphan + ".quarantine-42")
    #expect(try names(orphan) == ["0", "1", "2"])
  }

  // The copy's descriptor was closed after it had its name: POSIX then dropped the locks of a connection that
  // this process had opened meanwhile, and another process could delete its WAL.
  @Test("the restored store cannot be opened before the copy's descriptor is closed")
  func descriptor() throws {
    try prepare()
    let path = fixture.path
    let opened = Locked<[SatchelError.Code?]>([])
    var options = restore.options
    options.fileCalls.sync = { descriptor in
      var status = stat()
      if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
        let failure = try? code {
          let connection = try Connection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
          _ = try connection.number("SELECT count(*) FROM sqlite_schema")
        }
        opened.withLock { $0.append(failure ?? nil) }
      }
      return FileCalls.system.sync(descriptor)
    }
    try StoreRestore(migrations: StorageFixture.schema, subjects: [subject], options: options).restore(
      backup: backup, to: path)
    #expect(opened.withLock { $0 } == [.busy])
    #expect(try names() == ["0", "1", "2"])
  }

  @Test("a backup with a WAL is restored with the WAL's content")
  func backupWithLog() throws {
    let database = try fixture.open()
    try database.write { try $0.add("in the WAL") }
    try restore.restore(backup: fixture.path, to: backup)
    #expect(try names(backup) == ["in the WAL"])
    try database.close()
  }

  @Test("any damaged store is quarantined: truncated, overwritten, or not a database")
  func damagedTarget() throws {
    try prepare()
    let sound = try fixture.bytes()
    var overwritten = sound
    for offset in 0..<4096 { overwritten[offset] = 0x5A }
    for bytes in [Array(sound[..<5000]), overwritten, [1], []] {
      try fixture.put(bytes)
      let aside = try #require(try restore.restore(backup: backup, to: fixture.path).quarantine)
      #expect(try fixture.bytes(aside) == bytes)
      #expect(try names() == ["0", "1", "2"])
    }
  }

  @Test("a store that is open here or in another process is not replaced")
  func open() throws {
    try prepare()
    let database = try fixture.open()
    _ = try database.read { try $0.items() }
    #expect(try code { _ = try restore.restore(backup: backup, to: fixture.path) } == .busy)
    try database.close()
    let other = try OtherProcess("RestoreTests/holder", "holder", "a", fixture.path)
    while access(fixture.path + ".held", F_OK) != 0 { usleep(1000) }
    #expect(try code { _ = try restore.restore(backup: backup, to: fixture.path) } == .busy)
    #expect(try fixture.listing().allSatisfy { !$0.contains("quarantine") && !$0.contains("part") })
    other.kill()
    try restore.restore(backup: backup, to: fixture.path)
    #expect(try names() == ["0", "1", "2"])
  }

  @Test("the other process: has the store open until it is killed")
  func holder() throws {
    let role = OtherProcess.role("holder")
    let database = try fixture.open(role?.path)
    #expect(try database.read { try $0.items() } >= 0)
    guard let role else { return }
    try Data().write(to: URL(filePath: role.path + ".held"))
    while true { sleep(1) }
  }

  @Test("an invalid backup is refused with its path, and the store stays unchanged")
  func badBackup() throws {
    try prepare()
    let sound = try fixture.bytes(backup)
    let before = try fixture.bytes()
    var rubbish = sound
    for offset in 4096 * 3..<4096 * 4 { rubbish[offset] = 0xA5 }
    let cases: [([UInt8], SatchelError.Code)] = [
      (Array("hello".utf8), .foreign), ([], .foreign), (Array(sound[..<5000]), .damaged), (rubbish, .damaged),
      (Array(repeating: 0, count: 8192), .foreign),
    ]
    for (bytes, expected) in cases {
      try Data(bytes).write(to: URL(filePath: backup))
      #expect(try code { _ = try restore.restore(backup: backup, to: fixture.path) } == expected)
    }
    try Data(sound).write(to: URL(filePath: backup))
    try StorageFixture.plain(backup, "PRAGMA user_version = 7")
    #expect(try code { _ = try restore.restore(backup: backup, to: fixture.path) } == .newer)
    try StorageFixture.plain(
      backup,
      """
      PRAGMA user_version = 1; \(SubjectSchema.table);
      INSERT INTO subject VALUES('things', 2)
      """)
    #expect(try code { _ = try restore.restore(backup: backup, to: fixture.path) } == .newer)
    #expect(try code { _ = try restore.restore(backup: backup + ".no", to: fixture.path) } == .notFound)
    #expect(try fixture.bytes() == before)
    #expect(try fixture.listing().allSatisfy { !$0.contains("quarantine") && !$0.contains("part") })
  }

  @Test(
    "a backup that would not open is not restored, and the store stays",
    arguments: [
      "CREATE TRIGGER foreign_one AFTER INSERT ON item BEGIN SELECT 1; END", "DROP TABLE item",
      "CREATE VIEW foreign_view AS SELECT 1", "PRAGMA user_version = 0", "PRAGMA user_version = -3",
      "DROP TABLE change",
    ])
  func unopenable(sql: String) throws {
    try prepare()
    let before = try fixture.bytes()
    try StorageFixture.plain(backup, sql)
    #expect(try code { _ = try restore.restore(backup: backup, to: fixture.path) } == .damaged)
    #expect(try fixture.bytes() == before)
    #expect(try fixture.listing().allSatisfy { !$0.contains("quarantine") && !$0.contains("part") })
    let refused = try code {
      _ = try Database.open(
        path: backup, options: StoreOptions(), migrations: StorageFixture.schema, subjects: [subject])
    }
    #expect(refused == .damaged)
  }

  @Test("invalid paths are .invalid; after cancellation the store stays")
  func paths() throws {
    try prepare()
    for (from, to) in [
      ("", fixture.path), (backup, ""), (backup, "a\u{0}"), (backup, backup), (backup, ":memory:"),
    ] {
      #expect(try code { _ = try restore.restore(backup: from, to: to) } == .invalid)
    }
    #expect(try code { _ = try restore.restore(backup: backup, to: fixture.directory.path) } == .invalid)
    #expect(try code { _ = try restore.restore(backup: backup, to: fixture.path + ".no/x") } == .notFound)
    #expect(
      try code { _ = try restore.restore(backup: backup, to: fixture.path) { _, _ in false } } == .cancelled)
    #expect(try names().count == 5)
    #expect(try fixture.listing() == ["store", "store.backup"])
  }
}
