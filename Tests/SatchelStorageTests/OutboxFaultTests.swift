import Foundation
import SatchelTesting
import Testing

import SatchelCore
import SatchelStorage

@Suite("The outbox file with disk failures and several processes")
struct OutboxFaultTests {
  let fixture: OutboxFixture
  init() throws { fixture = try OutboxFixture() }

  @Test(
    "a failed append leaves nothing in the file, and throws the cause", arguments: BadDisk.Fault.allCases,
    [0, 3])
  func fault(fault: BadDisk.Fault, entries: Int) throws {
    let bytes = try fixture.make(entries: entries).bytes
    let disk = BadDisk(fault)
    let outboxFile = OutboxFile(store: fixture.storage.path, calls: disk.calls)
    let code = try code { _ = try outboxFile.append(OutboxFixture.payload(entries)) }
    switch fault {
    case .shortWrites, .interrupted:
      #expect(code == nil)
      #expect(try outboxFile.read()?.frames.count == entries + 1)
      return
    case .full, .fullAfterSome, .fullForGood: #expect(code == .full)
    case .writeError, .syncError: #expect(code == .io)
    }
    if fault != .fullForGood {
      #expect(try fixture.storage.listing().isEmpty == (entries == 0))
      if entries > 0 { #expect(try fixture.storage.bytes(fixture.path) == bytes) }
    }
    disk.fix()
    // The disk works again: all acknowledged entries are there, and nothing else.
    try outboxFile.append(Array("next".utf8))
    let content = try #require(try outboxFile.read())
    #expect(content.frames.map(\.payload) == (0..<entries).map(OutboxFixture.payload) + [Array("next".utf8)])
    #expect(content.damages.isEmpty == (fault != .fullForGood))
  }

  @Test("an entry that could be neither written nor removed is reported as uncertain")
  func inDoubt() throws {
    let outboxFile = OutboxFile(store: fixture.storage.path, calls: BadDisk(.fullForGood).calls)
    let error = try #require(throws: SatchelError.self) { try outboxFile.append(OutboxFixture.payload(0)) }
    #expect(error.code == .full)
    #expect(error.message.contains("may still be applied"))
  }

  @Test("a directory at its path, or a missing parent directory, is an error and does not trap")
  func noFile() throws {
    #expect(
      try code { _ = try OutboxFile(store: fixture.storage.path + "/no/store").append([1]) } == .notFound)
    try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: false)
    #expect(try code { _ = try fixture.outboxFile.append([1]) } == .invalid)
    #expect(try code { _ = try fixture.outboxFile.read() } == .invalid)
  }

  @Test("concurrent appends lose nothing")
  func threads() throws {
    let outboxFile = OutboxFile(store: fixture.storage.path)
    let workers = (0..<4).map { worker in
      Background { for number in 0..<25 { try outboxFile.append(Array("\(worker) \(number)".utf8)) } }
    }
    for worker in workers { try worker.finish() }
    let content = try #require(try outboxFile.read())
    #expect(content.damages.isEmpty)
    for worker in 0..<4 {
      let own = content.frames.map { String(decoding: $0.payload, as: UTF8.self) }.filter {
        $0.hasPrefix("\(worker) ")
      }
      #expect(own == (0..<25).map { "\(worker) \($0)" })
    }
  }

  // MARK: Another process

  @Test("the other process: appends until it is killed, and records the acknowledged entries")
  func appender() throws {
    guard let role = OtherProcess.role("appender") else {
      #expect(try fixture.outboxFile.append([1]) > 0)
      return
    }
    let outboxFile = OutboxFile(store: role.path, timeout: Self.timeout)
    let acknowledged = try FileHandle(forWritingTo: URL(filePath: "\(role.path).\(role.name)"))
    var number = 0
    while true {
      try outboxFile.append(
        Array("\(role.name) \(number)".utf8) + [UInt8](repeating: 0x20, count: number % 5000))
      try acknowledged.write(contentsOf: Data("\(number)\n".utf8))
      number += 1
    }
  }

  @Test(
    "two processes append and are killed while a third removes the file: each acknowledged entry is read once"
  )
  func killed() throws {
    let runs = [["a", "b"], ["c", "d"], ["e", "f"]]
    let outboxFile = OutboxFile(store: fixture.storage.path, timeout: Self.timeout)
    var seen: [String] = []
    for names in runs {
      let others = try names.map { name in
        try Data().write(to: URL(filePath: acknowledgedPath(name)))
        return try OtherProcess("OutboxFaultTests/appender", "appender", name, fixture.storage.path)
      }
      let end = Date() + 120
      while try Date() < end && names.contains(where: { try acknowledgedNumbers($0).count < 30 }) {
        guard let content = try outboxFile.read() else { continue }
        // As a drain does: the file is removed only when no entries were appended after those that were read.
        if try outboxFile.finish(content, time: 0) == .removed { seen += content.frames.map(Self.text) }
        usleep(1000)
      }
      for other in others { other.kill() }
    }
    let rest = try outboxFile.read()
    seen += rest?.frames.map(Self.text) ?? []
    #expect(rest?.damages.allSatisfy { $0.kind == .truncated } ?? true)
    #expect(seen.count > 100)
    for name in runs.joined() {
      let acknowledged = try acknowledgedNumbers(name)
      let found = seen.filter { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(2)) }
      #expect(acknowledged.count > 10)
      // The last entry may be complete without having been acknowledged.
      #expect(
        found == acknowledged || found.dropLast() == acknowledged,
        "\(name): acknowledged \(acknowledged.count), found \(found.count)")
    }
  }

  private func acknowledgedPath(_ name: String) -> String { "\(fixture.storage.path).\(name)" }

  private func acknowledgedNumbers(_ name: String) throws -> [String] {
    try String(contentsOfFile: acknowledgedPath(name), encoding: .utf8)
      .split(separator: "\n").map(String.init)
  }

  /// The time to wait for the lock, which others may hold most of the time, in milliseconds.
  private static let timeout = 120_000

  private static func text(_ frame: OutboxFrame) -> String {
    String(decoding: frame.payload, as: UTF8.self).trimmingCharacters(in: .whitespaces)
  }

  @Test("while another process holds the lock, a call waits for its timeout, and then throws .busy")
  func busy() throws {
    _ = try fixture.make(entries: 1)
    let descriptor = open(fixture.path, O_RDONLY)
    #expect(flock(descriptor, LOCK_EX) == 0)
    var met: SatchelError.Code?
    let took = try elapsed { met = try code { _ = try fixture.outboxFile.append([1]) } }
    #expect(met == .busy)
    #expect(took > 0.19)
    let patient = OutboxFile(store: fixture.storage.path, timeout: Self.timeout)
    let waiting = Background { try patient.append([2]) }
    #expect(!waiting.ends(within: 0.2))
    close(descriptor)
    try waiting.finish()
    #expect(try fixture.outboxFile.read()?.frames.count == 2)
  }
}
