import Foundation
import Testing

@testable import SatchelStorage

@Suite("The log's file is longer than what is in it")
struct WALPreallocationTests {
  private let fixture: StorageFixture

  init() throws { fixture = try StorageFixture() }

  private var logSize: Int {
    (try? FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")[.size] as? Int) ?? 0
  }

  private func write(_ commits: Int, to database: Database) throws {
    for number in 0..<commits { try database.write { try $0.add("item \(number)") } }
  }

  @Test("by zeros, which grow with it, and which mean nothing to who recovers it")
  func zeros() throws {
    let database = try fixture.open { $0.durability = .full }
    try write(8, to: database)
    #expect(logSize < 64 << 10, "a short log is left alone")
    var lengths: Set<Int> = []
    for _ in 0..<300 {
      try write(1, to: database)
      lengths.insert(logSize)
    }
    #expect(lengths.count < 40, "most commits find the file long enough")
    let log = try fixture.bytes(fixture.path + "-wal")
    #expect(log.count % 4120 != 32 && log.suffix(4096).allSatisfy { $0 == 0 })

    // Without the index of the log, as after a loss of power.
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

  @Test("not where commits are not synced")
  func relaxed() throws {
    let database = try fixture.open { $0.durability = .relaxed }
    try write(300, to: database)
    #expect(logSize % 4120 == 32)
  }

  @Test("two processes' handles in turn, and a log that begins anew")
  func turns() throws {
    let first = try fixture.open { $0.durability = .full }
    let second = try fixture.open { $0.durability = .full }
    for _ in 0..<40 {
      try write(7, to: first)
      try write(7, to: second)
    }
    try first.maintain { _ = first.checkpointer.truncate($0) }
    #expect(logSize == 0)
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
