import Foundation
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("The preallocated WAL file")
struct WALPreallocationTests {
  private let fixture: StorageFixture

  init() throws { fixture = try StorageFixture() }

  private var walSize: Int {
    (try? FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")[.size] as? Int) ?? 0
  }

  private func write(_ commits: Int, to database: Database) throws {
    for number in 0..<commits { try database.write { try $0.add("item \(number)") } }
  }

  @Test("ends with zeros, which grow with the WAL, and which recovery ignores")
  func zeros() throws {
    let database = try fixture.open { $0.durability = .full }
    try write(8, to: database)
    #expect(walSize < 64 << 10, "a short WAL is not extended or checkpointed")
    var lengths: Set<Int> = []
    for _ in 0..<300 {
      try write(1, to: database)
      lengths.insert(walSize)
    }
    #expect(lengths.count < 40, "most commits find the file long enough")
    let wal = try fixture.bytes(fixture.path + "-wal")
    #expect(wal.count % 4120 != 32 && wal.suffix(4096).allSatisfy { $0 == 0 })

    // Without the WAL index, as after a power loss.
    let copy = fixture.path + "-copy"
    for end in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: fixture.path + end, toPath: copy + end)
    }
    let recovered = try fixture.open(copy)
    #expect(try recovered.read { try $0.items() } == 308)
    #expect(try recovered.checkIntegrity().isEmpty)
    try recovered.close()
    try database.close()
    #expect(!FileManager.default.fileExists(atPath: fixture.path + "-wal"))
  }

  @Test("is not extended where commits are not synced")
  func relaxed() throws {
    let database = try fixture.open { $0.durability = .relaxed }
    try write(300, to: database)
    #expect(walSize % 4120 == 32)
  }

  @Test("serves two handles in turn, and a WAL that is reset")
  func turns() throws {
    let first = try fixture.open { $0.durability = .full }
    let second = try fixture.open { $0.durability = .full }
    for _ in 0..<40 {
      try write(7, to: first)
      try write(7, to: second)
    }
    try first.maintain { _ = first.checkpointer.truncate($0) }
    #expect(walSize == 0)
    for _ in 0..<20 {
      try write(7, to: second)
      try write(7, to: first)
    }
    #expect(try first.read { try $0.items() } == 840)
    #expect(try second.checkIntegrity().isEmpty)
    try second.close()
    try first.close()
    #expect(try fixture.open().read { try $0.items() } == 840)
  }
}
