import Foundation
import SatchelTesting
import Testing

@testable import SatchelStorage

@Suite("Locks of a store that is open")
struct FaultLockTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  @Test("the other process: takes the store for itself, if nobody has it open")
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

  @Test("opening a store again leaves the locks of the handle that has it open")
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

  @Test("looking at a store's file leaves the locks of the handle that has it open")
  func examined() throws {
    _ = try fixture.makeStore(items: 1)
    let database = try fixture.open()
    #expect(try database.read { try $0.items() } == 1)
    #expect(try StoreFile.examine(fixture.path) == .store)
    #expect(try !OtherProcess("FaultLockTests/taker", "taker", "1", fixture.path).finish())
    try database.close()
  }
}
