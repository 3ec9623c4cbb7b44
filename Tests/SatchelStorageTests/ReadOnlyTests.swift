import Foundation
import Testing

import SatchelCore
import SatchelStorage

@Suite("Opening read-only")
struct ReadOnlyTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  @Test("everything can be read, nothing written, and the file stays unchanged")
  func readsOnly() throws {
    let before = try fixture.makeStore(items: 5)
    let database = try fixture.open { $0.isReadOnly = true }
    #expect(try database.read { try $0.items() } == 5)
    #expect(try database.checkIntegrity().isEmpty)
    #expect(try code { try database.write { try $0.add("x") } } == .readOnly)
    #expect(try code { try database.read { try $0.execute("DELETE FROM item") } } == .readOnly)
    #expect(try code { try database.read { try $0.execute("CREATE TABLE x(y)") } } == .readOnly)
    try database.shrink()
    let subscription = try database.observe { _ in }
    subscription.cancel()
    try database.close()
    #expect(try fixture.bytes() == before)
    // SQLite may leave its index and an empty WAL, but no other file and no content.
    for name in try fixture.listing() where name != "store" {
      #expect(name == "store-shm" || name == "store-wal")
    }
    #expect(((try? fixture.bytes(fixture.path + "-wal")) ?? []).isEmpty)
  }

  @Test("changes of another handle are visible")
  func follows() throws {
    let writer = try fixture.open()
    let reader = try fixture.open { $0.isReadOnly = true }
    #expect(try reader.read { try $0.items() } == 0)
    try writer.write { try $0.add("x") }
    #expect(try reader.read { try $0.items() } == 1)
    try reader.close()
    try writer.close()
  }

  @Test("an older schema cannot be migrated")
  func older() throws {
    let before = try fixture.makeStore()
    let newer = StorageFixture.schema + [Migration(version: 2, sql: "CREATE TABLE second(x)")]
    #expect(try code { _ = try fixture.open(migrations: newer) { $0.isReadOnly = true } } == .readOnly)
    #expect(try fixture.bytes() == before)
  }

  @Test("a store in a read-only directory can be read, and creates no files")
  func readOnlyDirectory() throws {
    let before = try fixture.makeStore(items: 7)
    let odd = fixture.directory.appending(path: "a?b#c%20d e").path
    try FileManager.default.copyItem(atPath: fixture.path, toPath: odd)
    try protect(0o555, file: 0o444)
    defer { try? protect(0o755, file: 0o644) }
    let listing = try fixture.listing()
    try OrdinaryUser.run {
      for path in [fixture.path, odd] {
        let database = try fixture.open(path) { $0.isReadOnly = true }
        for _ in 0..<3 { #expect(try database.read { try $0.items() } == 7) }
        #expect(try code { try database.write { try $0.add("x") } } == .readOnly)
        #expect(try database.checkIntegrity().isEmpty)
        try database.close()
      }
    }
    #expect(try fixture.listing() == listing)
    #expect(try fixture.bytes() == before)
    #expect(try fixture.bytes(odd) == before)
  }

  @Test("a WAL that cannot be read there is an error, not an old snapshot")
  func logWithoutIndex() throws {
    let source = try StorageFixture()
    let writer = try source.open()
    try writer.write { try $0.add("in the WAL only") }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: source.path + suffix, toPath: fixture.path + suffix)
    }
    try writer.close()
    try protect(0o555, file: 0o444)
    defer { try? protect(0o755, file: 0o644) }
    try OrdinaryUser.run {
      let result = try code {
        let database = try fixture.open { $0.isReadOnly = true }
        #expect(try database.read { try $0.items() } == 1)
      }
      #expect(result == nil || result == .readOnly || result == .io)
    }
  }

  @Test("opened writable, a read-only file can be read, and writes throw .readOnly")
  func protectedFile() throws {
    let before = try fixture.makeStore(items: 2)
    try protect(0o777, file: 0o444)
    defer { try? protect(0o755, file: 0o644) }
    try OrdinaryUser.run {
      let database = try fixture.open()
      #expect(try database.read { try $0.items() } == 2)
      #expect(try code { try database.write { try $0.add("x") } } == .readOnly)
      try database.close()
    }
    #expect(try fixture.bytes() == before)
  }

  @Test("where no file can be created or read, the error says so and nothing is quarantined")
  func forbidden() throws {
    let before = try fixture.makeStore(items: 2)
    try protect(0o555, file: 0o000)
    defer { try? protect(0o755, file: 0o644) }
    try OrdinaryUser.run {
      for quarantine in [false, true] {
        let unreadable = try code { _ = try fixture.open { $0.quarantine = quarantine } }
        #expect(unreadable == .readOnly || unreadable == .io)
        let unmakeable = try code { _ = try fixture.open(fixture.path + "2") { $0.quarantine = quarantine } }
        #expect(unmakeable == .readOnly || unmakeable == .io)
      }
    }
    try protect(0o755, file: 0o644)
    #expect(try fixture.bytes() == before)
    #expect(try fixture.listing() == ["store"])
  }

  private func protect(_ directory: Int, file: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fixture.directory.path)
    for name in try fixture.listing() {
      try FileManager.default.setAttributes(
        [.posixPermissions: file], ofItemAtPath: fixture.directory.appending(path: name).path)
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: directory], ofItemAtPath: fixture.directory.path)
  }
}

/// Root may write anywhere: a test about permissions that runs as root drops them temporarily.
enum OrdinaryUser {
  /// Runs `body` on this thread with the permissions of a user that owns none of the files.
  static func run(_ body: () throws -> Void) throws {
    guard geteuid() == 0 else { return try body() }
    // For the thread only, on Linux; the C library's module does not export it to Swift.
    typealias SetUser = @convention(c) (UInt32) -> Int32
    guard let symbol = dlsym(nil, "setfsuid") else {
      throw SatchelError(.internal, "running as root on a system where a thread cannot give that up")
    }
    let setUser = unsafeBitCast(symbol, to: SetUser.self)
    _ = setUser(65534)
    defer { _ = setUser(0) }
    try body()
  }
}
