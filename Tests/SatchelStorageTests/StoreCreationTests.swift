import Foundation
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Creating a store")
struct StoreCreationTests {
  private let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  /// File calls of which the n-th of one kind fails.
  enum FailingCall: CaseIterable, Sendable {
    case write, sync, truncate

    func calls(failingAt n: Int) -> FileCalls {
      let count = Locked(0)
      let fails: @Sendable (FailingCall) -> Bool = { call in
        call == self
          && count.withLock {
            $0 += 1
            return $0 == n
          }
      }
      var calls = FileCalls.system
      let system = FileCalls.system
      calls.write = {
        guard !fails(.write) else {
          errno = ENOSPC
          return -1
        }
        return system.write($0, $1, $2)
      }
      calls.sync = {
        guard !fails(.sync) else {
          errno = EIO
          return -1
        }
        return system.sync($0)
      }
      calls.truncate = {
        guard !fails(.truncate) else {
          errno = EIO
          return -1
        }
        return system.truncate($0, $1)
      }
      return calls
    }
  }

  @Test("leaves a complete store or nothing when any call fails", arguments: FailingCall.allCases, 1...3)
  func failures(call: FailingCall, n: Int) throws {
    let failure = try code {
      try fixture.open { $0.fileCalls = call.calls(failingAt: n) }.close()
    }
    let listing = try fixture.listing()
    #expect(listing == [] || listing == ["store"], "after \(call) \(n)")
    // The last sync is the directory's: the store is complete by then.
    let isExpected = n == 1 || call == .sync && n == 2
    #expect((failure != nil) == isExpected, "after \(call) \(n)")
    if listing == ["store"] { #expect(try fixture.bytes().count > 4096) }
    let database = try fixture.open()
    try database.write { try $0.add("x") }
    #expect(try database.read { try $0.names() } == ["x"])
    #expect(try database.checkIntegrity().isEmpty)
    try database.close()
  }

  @Test("overwrites the temporary file of a killed process")
  func leftover() throws {
    try Data(repeating: 7, count: 1 << 20).write(to: URL(filePath: fixture.path + StoreCreation.partSuffix))
    let database = try fixture.open()
    try database.write { try $0.add("x") }
    #expect(try database.checkIntegrity().isEmpty)
    try database.close()
    #expect(try fixture.listing() == ["store"])
  }

  @Test(
    "quarantines the WAL or journal of a missing store, instead of applying it",
    arguments: ["-wal", "-journal"])
  func orphans(suffix: String) throws {
    let database = try fixture.open()
    try database.write { try $0.add("old") }
    let left = suffix == "-wal" ? try fixture.bytes(fixture.path + suffix) : Array("\u{d9}outbox".utf8)
    try database.close()
    try FileManager.default.removeItem(atPath: fixture.path)
    try Data(left).write(to: URL(filePath: fixture.path + suffix))

    let again = try fixture.open { $0.clock = Clock { 77 } }
    #expect(try again.read { try $0.names() } == [])
    #expect(try again.checkIntegrity().isEmpty)
    try again.close()
    #expect(try fixture.bytes(fixture.path + ".quarantine-77" + suffix) == left)
  }

  @Test("follows a symbolic link to a file that does not exist yet")
  func link() throws {
    let target = fixture.directory.path + "/elsewhere"
    try FileManager.default.createSymbolicLink(atPath: fixture.path, withDestinationPath: target)
    let database = try fixture.open()
    try database.write { try $0.add("x") }
    try database.close()
    #expect(try fixture.listing() == ["elsewhere", "store"])
    #expect(try fixture.open(target).read { try $0.names() } == ["x"])
  }

  @Test("waits for another process that creates a store in the directory, until the timeout")
  func busy() throws {
    let holder = try DiskFile(fixture.directory.path, O_RDONLY | O_DIRECTORY)
    #expect(flock(holder.descriptor, LOCK_EX | LOCK_NB) == 0)
    let error = #expect(throws: SatchelError.self) { _ = try fixture.open { $0.busyTimeout = 20 } }
    #expect(error?.code == .busy)
    #expect(try fixture.listing() == [])
    #expect(flock(holder.descriptor, LOCK_UN) == 0)
    try fixture.open().close()
  }

  // MARK: Files that cannot be a store

  @Test(
    "a named pipe, a socket or a device is refused, and stays unchanged",
    arguments: ["pipe", "socket", "device"])
  func special(kind: String) throws {
    switch kind {
    case "pipe": #expect(mkfifo(fixture.path, 0o644) == 0)
    case "socket": try Self.makeSocket(fixture.path)
    // Behind a symbolic link: if it were renamed after all, the machine would lose only the link.
    default:
      try FileManager.default.createSymbolicLink(atPath: fixture.path, withDestinationPath: "/dev/null")
    }
    var before = stat()
    #expect(stat(fixture.path, &before) == 0)
    for (quarantine, isReadOnly) in [(false, false), (true, false), (false, true)] {
      let error = #expect(throws: SatchelError.self) {
        _ = try fixture.open {
          $0.quarantine = quarantine
          $0.isReadOnly = isReadOnly
        }
      }
      #expect(error?.code == .invalid && error?.message.contains(kind) == true, "\(error?.message ?? "")")
    }
    #expect(throws: SatchelError.self) { _ = try StoreFile.quarantine(fixture.path, time: 1) }
    #expect(throws: SatchelError.self) {
      _ = try StoreRecovery(migrations: StorageFixture.schema, subjects: []).recover(
        damaged: fixture.path, into: fixture.path + "-recovered")
    }
    let database = try fixture.open(fixture.path + "-other")
    #expect(throws: SatchelError.self) { try database.backup(to: fixture.path) }
    try database.close()
    var after = stat()
    #expect(
      stat(fixture.path, &after) == 0 && after.st_ino == before.st_ino && after.st_mode == before.st_mode)
    #expect(try fixture.listing() == ["store", "store-other"])
  }

  private static func makeSocket(_ path: String) throws {
    // A socket's address is limited to 107 bytes: bound from within its directory.
    let directory = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let short = Array("/proc/self/fd/\(directory)/\(URL(filePath: path).lastPathComponent)".utf8CString)
    withUnsafeMutableBytes(of: &address.sun_path) { buffer in
      short.withUnsafeBytes { buffer.copyMemory(from: $0) }
    }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard result == 0 else { throw SatchelError(errno: errno, path) }
  }

  @Test("a store with two hard links is refused, and opens again when it has one")
  func hardLink() throws {
    _ = try fixture.makeStore(items: 2)
    try FileManager.default.linkItem(atPath: fixture.path, toPath: fixture.path + "-second")
    for path in [fixture.path, fixture.path + "-second"] {
      let error = #expect(throws: SatchelError.self) { _ = try fixture.open(path) { $0.quarantine = true } }
      #expect(error?.code == .invalid && error?.message.contains("hard links") == true)
    }
    try FileManager.default.removeItem(atPath: fixture.path + "-second")
    #expect(try fixture.open().read { try $0.items() } == 2)
  }

  @Test("where the VFS has no shared memory, opening throws that WAL mode is impossible")
  func noSharedMemory() throws {
    for _ in 0..<2 {
      let error = #expect(throws: SatchelError.self) { _ = try fixture.open { $0.vfsName = "unix-none" } }
      #expect(error?.code == .io && error?.message.contains("shared memory") == true)
    }
    try fixture.open().close()
  }

  @Test("a store that another program took out of WAL mode is returned to it when it is opened")
  func journalMode() throws {
    _ = try fixture.makeStore(items: 2)
    try StorageFixture.plain(fixture.path, "PRAGMA journal_mode = DELETE")
    let database = try fixture.open { $0.durability = .full }
    #expect(try database.read { try $0.first("PRAGMA journal_mode") { $0.text(0) } } == "wal")
    try database.write { try $0.add("x") }
    try database.sync()
    try database.close()
  }
}
