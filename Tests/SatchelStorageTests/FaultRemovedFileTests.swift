import Foundation
import Testing

import SatchelCore
import SatchelStorage

@Suite("A store whose file is removed while it is open")
struct FaultRemovedFileTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  enum Loss: CaseIterable { case deleted, renamed, replaced, logDeleted, allDeleted }

  private func lose(_ loss: Loss) throws {
    let files = FileManager.default
    switch loss {
    case .deleted: try files.removeItem(atPath: fixture.path)
    case .renamed: try files.moveItem(atPath: fixture.path, toPath: fixture.path + ".old")
    case .replaced:
      try files.copyItem(atPath: fixture.path, toPath: fixture.path + ".new")
      #expect(rename(fixture.path + ".new", fixture.path) == 0)
    case .logDeleted: try files.removeItem(atPath: fixture.path + "-wal")
    case .allDeleted:
      for suffix in ["", "-wal", "-shm"] { try files.removeItem(atPath: fixture.path + suffix) }
    }
  }

  @Test("the next write throws, instead of writing to a file without a name", arguments: Loss.allCases)
  func before(loss: Loss) throws {
    let database = try fixture.open()
    try database.write { try $0.add("kept") }
    try lose(loss)
    for _ in 0..<2 {
      let error = try #require(throws: SatchelError.self) { try database.write { try $0.add("lost") } }
      #expect(error.code == .io)
      #expect(error.message.contains("renamed, removed or replaced"))
    }
    // A reader opens the file that is at the path now, if any.
    #expect([nil, .io].contains(try code { _ = try database.read { try $0.names() } }))
    try database.close()
  }

  @Test("a write during which it happens throws, too", arguments: Loss.allCases)
  func during(loss: Loss) throws {
    let database = try fixture.open()
    try database.write { try $0.add("kept") }
    let observed = ObservedChanges()
    let subscription = try database.observe { observed.add($0) }
    let code = try code {
      try database.write { transaction in
        try transaction.add("lost")
        transaction.note(subject: .test, keys: ["lost"], place: nil)
        try lose(loss)
      }
    }
    #expect(code == .io)
    #expect(observed.all.isEmpty)
    subscription.cancel()
    try database.close()
  }

  @Test(
    "acknowledged writes are in a renamed file once it is closed, and its WAL does not stay at the old name")
  func renamed() throws {
    for hasNewStore in [false, true] {
      let fixture = try StorageFixture()
      let (database, moved) = (try fixture.open(), fixture.path + ".moved")
      try database.write { try $0.add("acknowledged") }
      try FileManager.default.moveItem(atPath: fixture.path, toPath: moved)
      // A new store at the old name, whose WAL has the same name.
      let new = hasNewStore ? try fixture.open() : nil
      try new?.write { try $0.add("new") }
      try database.close()
      if !hasNewStore { #expect(try fixture.listing() == ["store.moved"]) }
      let renamed = try fixture.open(moved)
      #expect(try renamed.read { try $0.names() } == ["acknowledged"])
      #expect(try renamed.checkIntegrity().isEmpty)
      try renamed.close()
      if let new {
        #expect(try new.read { try $0.names() } == ["new"])
        try new.close()
      }
    }
  }

  @Test("of several handles the last one completes a renamed file; one before it names where its writes are")
  func renamedWithHandles() throws {
    let (one, other) = (try fixture.open { $0.busyTimeout = 0 }, try fixture.open { $0.busyTimeout = 0 })
    try one.write { try $0.add("one") }
    try other.write { try $0.add("other") }
    let moved = fixture.path + ".moved"
    try FileManager.default.moveItem(atPath: fixture.path, toPath: moved)
    let error = try #require(throws: SatchelError.self) { try one.close() }
    #expect(error.code == .io && error.message.contains(fixture.path + "-wal"))
    try other.close()
    let renamed = try fixture.open(moved)
    #expect(try renamed.read { try $0.names() } == ["one", "other"])
    try renamed.close()
  }

  @Test("close does not touch the new store at its path, including its WAL")
  func successor() throws {
    let old = try fixture.open()
    try old.write { try $0.add("old") }
    try lose(.allDeleted)
    let new = try fixture.open()
    try new.write { try $0.add("new") }
    try old.close()
    #expect(try fixture.listing().contains("store-wal"))
    let third = try fixture.open { $0.isReadOnly = true }
    #expect(try third.read { try $0.names() } == ["new"])
    try new.write { try $0.add("newer") }
    try new.close()
    #expect(try third.read { try $0.names() } == ["new", "newer"])
    try third.close()
  }

  @Test("a store opened by a relative path is not reported as lost when the working directory changes")
  func relative() throws {
    let database = try fixture.open(
      fixture.directory.path + "/./../" + fixture.directory.lastPathComponent + "/store")
    try database.write { try $0.add("a") }
    try database.write { try $0.add("b") }
    #expect(try database.read { try $0.items() } == 2)
    try database.close()
  }
}
