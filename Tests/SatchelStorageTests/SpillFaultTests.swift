import Foundation
import SatchelTesting
import Testing

@testable import SatchelStorage

@Suite("The spill file on a bad disk, and shared")
struct SpillFaultTests {
  let fixture: SpillFixture
  init() throws { fixture = try SpillFixture() }

  @Test("a failed append leaves nothing behind, and says why", arguments: BadDisk.Fault.allCases, [0, 3])
  func fault(fault: BadDisk.Fault, entries: Int) throws {
    let bytes = try fixture.make(entries: entries).bytes
    let disk = BadDisk(fault)
    let spill = SpillFile(store: fixture.storage.path, calls: disk.calls)
    let code = try code { _ = try spill.append(SpillFixture.payload(entries)) }
    switch fault {
    case .shortWrites, .interrupted:
      #expect(code == nil)
      #expect(try spill.read()?.frames.count == entries + 1)
      return
    case .full, .fullAfterSome, .fullForGood: #expect(code == .full)
    case .writeError, .syncError: #expect(code == .io)
    }
    if fault != .fullForGood {
      #expect(try fixture.storage.listing().isEmpty == (entries == 0))
      if entries > 0 { #expect(try fixture.storage.bytes(fixture.path) == bytes) }
    }
    disk.fix()
    // The disk is well again: all that was acknowledged is there, and nothing else.
    try spill.append(Array("next".utf8))
    let content = try #require(try spill.read())
    #expect(content.frames.map(\.payload) == (0..<entries).map(SpillFixture.payload) + [Array("next".utf8)])
    #expect(content.damages.isEmpty == (fault != .fullForGood))
  }

  @Test("what could neither be written nor taken back is said to be in doubt")
  func inDoubt() throws {
    let spill = SpillFile(store: fixture.storage.path, calls: BadDisk(.fullForGood).calls)
    let error = try #require(throws: SatchelError.self) { try spill.append(SpillFixture.payload(0)) }
    #expect(error.code == .full)
    #expect(error.message.contains("may still be replayed"))
  }

  @Test("a directory in its place, or none around it, is an error and no trap")
  func noFile() throws {
    #expect(
      try code { _ = try SpillFile(store: fixture.storage.path + "/no/store").append([1]) } == .notFound)
    try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: false)
    #expect(try code { _ = try fixture.spill.append([1]) } == .invalid)
    #expect(try code { _ = try fixture.spill.read() } == .invalid)
  }

  @Test("threads that append at once lose nothing")
  func threads() throws {
    let spill = SpillFile(store: fixture.storage.path)
    let workers = (0..<4).map { worker in
      Background { for number in 0..<25 { try spill.append(Array("\(worker) \(number)".utf8)) } }
    }
    for worker in workers { try worker.finish() }
    let content = try #require(try spill.read())
    #expect(content.damages.isEmpty)
    for worker in 0..<4 {
      let own = content.frames.map { String(decoding: $0.payload, as: UTF8.self) }.filter {
        $0.hasPrefix("\(worker) ")
      }
      #expect(own == (0..<25).map { "\(worker) \($0)" })
    }
  }

  // MARK: Another process

  @Test("the other process: appends until it is killed, and writes down what it was told is safe")
  func appender() throws {
    guard let role = OtherProcess.role("appender") else {
      #expect(try fixture.spill.append([1]) > 0)
      return
    }
    let spill = SpillFile(store: role.path, patience: Self.patience)
    let told = try FileHandle(forWritingTo: URL(filePath: "\(role.path).\(role.name)"))
    var number = 0
    while true {
      try spill.append(Array("\(role.name) \(number)".utf8) + [UInt8](repeating: 0x20, count: number % 5000))
      try told.write(contentsOf: Data("\(number)\n".utf8))
      number += 1
    }
  }

  @Test(
    "two processes append and are killed, a third removes meanwhile: each acknowledged entry is read once")
  func killed() throws {
    let runs = [["a", "b"], ["c", "d"], ["e", "f"]]
    let spill = SpillFile(store: fixture.storage.path, patience: Self.patience)
    var seen: [String] = []
    for names in runs {
      let others = try names.map { name in
        try Data().write(to: URL(filePath: told(name)))
        return try OtherProcess("SpillFaultTests/appender", "appender", name, fixture.storage.path)
      }
      let end = Date() + 120
      while try Date() < end && names.contains(where: { try tellings($0).count < 30 }) {
        guard let content = try spill.read() else { continue }
        // As a replay does: it is removed only when nothing came behind what was taken.
        if try spill.finish(content, time: 0) == .removed { seen += content.frames.map(Self.text) }
        usleep(1000)
      }
      for other in others { other.kill() }
    }
    let rest = try spill.read()
    seen += rest?.frames.map(Self.text) ?? []
    #expect(rest?.damages.allSatisfy { $0.kind == .cutShort } ?? true)
    #expect(seen.count > 100)
    for name in runs.joined() {
      let told = try tellings(name)
      let found = seen.filter { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(2)) }
      #expect(told.count > 10)
      // The last one may have been safe without anyone having been told.
      #expect(found == told || found.dropLast() == told, "\(name): told \(told.count), found \(found.count)")
    }
  }

  private func told(_ name: String) -> String { "\(fixture.storage.path).\(name)" }

  private func tellings(_ name: String) throws -> [String] {
    try String(contentsOfFile: told(name), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// Milliseconds that a process waits for the lock, which two others take all the time.
  private static let patience = 120_000

  private static func text(_ frame: SpillFrame) -> String {
    String(decoding: frame.payload, as: UTF8.self).trimmingCharacters(in: .whitespaces)
  }

  @Test("while another process holds the lock, a call waits as long as it was told, and then is busy")
  func busy() throws {
    _ = try fixture.make(entries: 1)
    let descriptor = open(fixture.path, O_RDONLY)
    #expect(flock(descriptor, LOCK_EX) == 0)
    var met: SatchelError.Code?
    let took = try elapsed { met = try code { _ = try fixture.spill.append([1]) } }
    #expect(met == .busy)
    #expect(took > 0.19)
    let waiting = Background { [path = fixture.storage.path] in try SpillFile(store: path).append([2]) }
    #expect(!waiting.ends(within: 0.2))
    close(descriptor)
    try waiting.finish()
    #expect(try fixture.spill.read()?.frames.count == 2)
  }
}
