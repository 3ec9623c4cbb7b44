import Foundation
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Opening a store")
struct OpeningTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  /// Files that Satchel did not create, and how to create them.
  enum Stranger: String, CaseIterable, Sendable {
    case text, shortText, zeros, photo, database, databaseWithWAL, viewOnly, legacyHeader, directory

    func put(at path: String) throws {
      switch self {
      case .text:
        try "Dear diary, this is no database at all.\n".write(
          toFile: path, atomically: false, encoding: .utf8)
      case .shortText: try "x".write(toFile: path, atomically: false, encoding: .utf8)
      case .zeros: try Data(count: 8192).write(to: URL(filePath: path))
      case .photo: try Data([0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](0...255)).write(to: URL(filePath: path))
      case .database: try StorageFixture.plain(path, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)")
      case .databaseWithWAL:
        // The tables are in the WAL only, as after a crash.
        let origin = try StorageFixture()
        try StorageFixture.plain(origin.path, "PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL")
        let connection = try Connection(path: origin.path, flags: 6, busyTimeout: 0)
        try connection.execute("CREATE TABLE theirs(x)")
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: origin.path + suffix, toPath: path + suffix)
        }
      case .viewOnly: try StorageFixture.plain(path, "PRAGMA auto_vacuum = 2; CREATE VIEW theirs AS SELECT 1")
      case .legacyHeader:
        // As SQLite before 3.7 writes it: the header does not contain the number of pages.
        try StorageFixture.plain(path, "CREATE TABLE theirs(x)")
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        bytes.replaceSubrange(28..<32, with: [0, 0, 0, 0])
        bytes.replaceSubrange(92..<96, with: [0, 0, 0, 0])
        try Data(bytes).write(to: URL(filePath: path))
      case .directory:
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try "inside".write(toFile: path + "/file", atomically: false, encoding: .utf8)
      }
    }

    func content(of path: String) throws -> [UInt8] {
      Array(try Data(contentsOf: URL(filePath: self == .directory ? path + "/file" : path)))
    }
  }

  @Test("a new store is created, and opens again with its content")
  func reopen() throws {
    let database = try fixture.open()
    #expect(database.quarantinePath == nil)
    try database.write { try $0.add("first") }
    try database.close()
    #expect(try fixture.listing() == ["store"])
    let again = try fixture.open()
    #expect(try again.read { try $0.names() } == ["first"])
    #expect(try again.schemaVersion == 1)
    #expect(try again.checkIntegrity().isEmpty)
    #expect(try again.read { try $0.number("PRAGMA auto_vacuum") } == 2)
    #expect(try again.read { try $0.first("PRAGMA journal_mode") { $0.text(0) } } == "wal")
    try again.close()
  }

  @Test("an empty file becomes a store; opening it read-only does not change it")
  func emptyFile() throws {
    try fixture.put([])
    #expect(try code { _ = try fixture.open { $0.isReadOnly = true } } == .foreign)
    #expect(try fixture.bytes().isEmpty)
    let database = try fixture.open()
    try database.write { try $0.add("x") }
    try database.close()
    #expect(try fixture.bytes().count > 0)
  }

  @Test("an incomplete store with only its application id is completed, in WAL mode")
  func claimed() throws {
    try StorageFixture.plain(fixture.path, "PRAGMA application_id = \(StoreFile.applicationID)")
    let database = try fixture.open()
    #expect(try database.read { try $0.first("PRAGMA journal_mode") { $0.text(0) } } == "wal")
  }

  @Test("a file that Satchel did not create is foreign, and stays unchanged", arguments: Stranger.allCases)
  func foreign(stranger: Stranger) throws {
    try stranger.put(at: fixture.path)
    let (content, listing) = (try stranger.content(of: fixture.path), try fixture.listing())
    for isReadOnly in [false, true] {
      #expect(try code { _ = try fixture.open { $0.isReadOnly = isReadOnly } } == .foreign)
      #expect(try stranger.content(of: fixture.path) == content)
      #expect(try fixture.listing() == listing)
    }
  }

  @Test(
    "with quarantine it is renamed, never deleted, and a new store is created", arguments: Stranger.allCases)
  func quarantine(stranger: Stranger) throws {
    for round in 1...3 {
      // The clock is constant: names must not collide.
      if round > 1 { try FileManager.default.removeItem(atPath: fixture.path) }
      try stranger.put(at: fixture.path)
      let content = try stranger.content(of: fixture.path)
      let database = try fixture.open {
        $0.quarantine = true
        $0.clock = Clock { 1234 }
      }
      let target = try #require(database.quarantinePath)
      #expect(target == fixture.path + ".quarantine-1234" + (round > 1 ? "-\(round)" : ""))
      #expect(try stranger.content(of: target) == content)
      try database.write { try $0.add("new") }
      try database.close()
      #expect(try fixture.listing().filter { !$0.hasSuffix("-wal") }.count == round + 1)
    }
  }

  @Test("a WAL is quarantined with its database")
  func quarantinedWAL() throws {
    try Stranger.databaseWithWAL.put(at: fixture.path)
    let wal = try fixture.bytes(fixture.path + "-wal")
    let database = try fixture.open { $0.quarantine = true }
    let target = try #require(database.quarantinePath)
    #expect(try fixture.bytes(target + "-wal") == wal)
    #expect(try database.read { try $0.items() } == 0)
  }

  @Test("opened read-only, nothing is quarantined")
  func quarantineReadOnly() throws {
    try Stranger.text.put(at: fixture.path)
    #expect(
      try code {
        _ = try fixture.open {
          $0.quarantine = true
          $0.isReadOnly = true
        }
      } == .foreign)
    #expect(try fixture.listing() == ["store"])
  }

  @Test(
    "a newer store is refused, stays unchanged, and is never quarantined",
    arguments: [2, 3, 1000, Int64(Int32.max)])
  func newer(version: Int64) throws {
    _ = try fixture.makeStore(items: 3)
    try StorageFixture.plain(fixture.path, "PRAGMA user_version = \(version)")
    let bytes = try fixture.bytes()
    for (isReadOnly, quarantine) in [(false, false), (false, true), (true, false), (true, true)] {
      let result = try code {
        _ = try fixture.open {
          $0.isReadOnly = isReadOnly
          $0.quarantine = quarantine
        }
      }
      #expect(result == .newer)
      #expect(try fixture.bytes() == bytes)
    }
    #expect(try fixture.listing().allSatisfy { !$0.contains("quarantine") })
  }

  @Test("a missing directory is .notFound, and so is a missing store opened read-only")
  func missing() throws {
    #expect(try code { _ = try fixture.open(fixture.path + "/no/store") } == .notFound)
    #expect(try code { _ = try fixture.open(fixture.path) { $0.isReadOnly = true } } == .notFound)
    #expect(try code { _ = try fixture.open(fixture.path + "/") { $0.isReadOnly = true } } == .notFound)
    #expect(try fixture.listing().isEmpty)
  }

  @Test("an invalid path is .invalid", arguments: ["", "a\u{0}b", "\u{0}"])
  func invalidPath(path: String) throws {
    #expect(try code { _ = try fixture.open(path) } == .invalid)
  }

  @Test(
    "a path may contain any characters of a file name",
    arguments: ["ü ö", "a?b#c%20d", "'\"\\", "mode=ro&x", "file:x"])
  func oddNames(name: String) throws {
    let path = fixture.directory.path + "/" + name
    let database = try fixture.open(path)
    try database.write { try $0.add("x") }
    try database.close()
    #expect(try fixture.listing() == [name])
    #expect(try fixture.open(path) { $0.isReadOnly = true }.read { try $0.items() } == 1)
  }

  @Test("a store in memory works like any other, and is discarded by close")
  func memory() throws {
    let observed = ObservedChanges()
    let database = try fixture.open(":memory:")
    let subscription = try database.observe { observed.add($0) }
    try database.write { transaction in
      try transaction.add("a")
      #expect(try database.read { try $0.items() } == 1)
      transaction.note(subject: .test, keys: ["a"], place: nil)
    }
    #expect(throws: CancellationError.self) {
      try database.write {
        try $0.add("b")
        throw CancellationError()
      }
    }
    #expect(try database.read { try $0.names() } == ["a"])
    #expect(observed.keys == ["a"])
    #expect(database.fileBytes == 0)
    subscription.cancel()
    try database.close()
    #expect(try code { try database.read { _ in } } == .closed)
    #expect(try fixture.open(":memory:").read { try $0.items() } == 0)
    #expect(try fixture.listing().isEmpty)
  }
}
