import SatchelStorageTesting
import Testing

import SatchelCore
import SatchelStorage

@Suite("Unsynced commits and sync()")
struct WALSyncTests {
  private let fixture: StorageFixture
  private let disk: FaultyDisk

  init() throws {
    fixture = try StorageFixture()
    disk = try FaultyDisk()
  }

  private func open(_ durability: StoreOptions.Durability) throws -> Database {
    let database = try fixture.open(on: disk, durability)
    try database.write { try $0.add("first") }
    return database
  }

  /// Returns the number of syncs in `body`.
  private func syncs(_ body: () throws -> Void) rethrows -> Int {
    let before = disk.count(.sync)
    try body()
    return disk.count(.sync) - before
  }

  @Test("are synced once, by sync(); other commits as usual")
  func once() throws {
    let database = try open(.full)
    #expect(
      try syncs { for _ in 0..<5 { try database.write(isSynced: false) { try $0.add("later") } } } == 0)
    #expect(try syncs { try database.write { try $0.add("now") } } == 1)
    #expect(try syncs { try database.write(isSynced: false) { try $0.add("later") } } == 0)
    #expect(try syncs { try database.sync() } == 1)
    #expect(try database.read { try $0.items() } == 8)
    try database.close()
  }

  @Test("inside another transaction are synced by its commit")
  func nested() throws {
    let database = try open(.full)
    let count = try syncs {
      try database.write { _ in
        try database.write(isSynced: false) { try $0.add("inner") }
        #expect(try syncs { try database.sync() } == 0)
      }
    }
    #expect(count == 1)
    try database.close()
  }

  @Test("are synced also by a handle that has done nothing else")
  func otherHandle() throws {
    let database = try open(.full)
    try database.write(isSynced: false) { try $0.add("later") }
    let other = try fixture.open(on: disk, .full)
    #expect(try syncs { try other.sync() } == 1)
    try other.close()
    try database.close()
  }

  @Test("are never synced with relaxed durability")
  func relaxed() throws {
    let database = try open(.relaxed)
    #expect(
      try syncs {
        try database.write(isSynced: false) { try $0.add("later") }
        try database.sync()
        try database.write { try $0.add("now") }
      } == 0)
    try database.close()
  }

  @Test("are reported by sync() when the disk fails; the commits stay")
  func failure() throws {
    let database = try open(.full)
    try database.write(isSynced: false) { try $0.add("later") }
    disk.fail(.sync, at: 1)
    let error = #expect(throws: SatchelError.self) { try database.sync() }
    #expect(error?.code == .io)
    #expect(error?.message.contains(fixture.path) == true)
    try database.sync()
    #expect(try database.read { try $0.items() } == 2)
    try database.close()
  }

  @Test("the last transaction before close is synced")
  func closing() throws {
    let database = try open(.full)
    try database.write(isSynced: false) { try $0.add("later") }
    let count = try syncs { try database.close() }
    #expect(count > 0)
    #expect(throws: SatchelError.self) { try database.sync() }
    let again = try fixture.open()
    #expect(try again.read { try $0.items() } == 2)
    try again.close()
  }
}
