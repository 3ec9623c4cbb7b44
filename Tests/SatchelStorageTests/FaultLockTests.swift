import Foundation
import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Locks of an open store")
struct FaultLockTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  @Test("the other process: locks the store exclusively, if no connection has it open")
  func taker() throws {
    guard let role = OtherProcess.role("taker") else {
      _ = try fixture.makeStore(items: 1)
      try Self.take(fixture.path)
      return
    }
    try Self.take(role.path)
  }

  private static func take(_ path: String) throws {
    let connection = try Connection(path: path, flags: 2, busyTimeout: 0)
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT * FROM item; COMMIT")
  }

  @Test("opening a store again keeps the locks of the first handle")
  func openedTwice() throws {
    _ = try fixture.makeStore(items: 1)
    let first = try fixture.open()
    #expect(try first.read { try $0.items() } == 1)
    #expect(try !OtherProcess("FaultLockTests/taker", "taker", "1", fixture.path).finish())
    let second = try fixture.open()
    #expect(try !OtherProcess("FaultLockTests/taker", "taker", "2", fixture.path).finish())
    try second.close()
    try first.close()
    #expect(try OtherProcess("FaultLockTests/taker", "taker", "3", fixture.path).finish())
  }

  @Test("examining a store's file keeps the locks of the handle that has it open")
  func examined() throws {
    _ = try fixture.makeStore(items: 1)
    let database = try fixture.open()
    #expect(try database.read { try $0.items() } == 1)
    #expect(try StoreFile.examine(fixture.path) == .store)
    #expect(try !OtherProcess("FaultLockTests/taker", "taker", "1", fixture.path).finish())
    try database.close()
  }
}
