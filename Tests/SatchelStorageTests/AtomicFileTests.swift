import Foundation
import Testing

import SatchelCore
import SatchelStorage

@Suite("A file that replaces another one")
struct AtomicFileTests {
  private let fixture: StorageFixture
  private var target: String { fixture.directory.appending(path: "file").path }

  init() throws { fixture = try StorageFixture() }

  private func write(_ parts: [[UInt8]]) throws { try Self.write(parts, to: target) }

  private static func write(_ parts: [[UInt8]], to target: String) throws {
    var file = try AtomicFile(replacing: target)
    for part in parts { try part.withUnsafeBytes { try file.append($0) } }
    try file.commit()
  }

  @Test(
    "contains its parts, small and large, in order",
    arguments: [0, 1, 262_143, 262_144, 262_145, 700_000])
  func parts(size: Int) throws {
    let large = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let parts = [[1, 2, 3], large, [], [4], large, [5]]
    try write(parts)
    #expect(try fixture.bytes(target) == Array(parts.joined()))
    #expect(try fixture.listing() == ["file"])
  }

  @Test("dropped before commit it is removed, and the old file is unchanged")
  func givenUp() throws {
    try write([[1]])
    do {
      var file = try AtomicFile(replacing: target)
      try [2 as UInt8].withUnsafeBytes { try file.append($0) }
      #expect(try fixture.listing() == ["file", "file.part"])
    }
    #expect(try fixture.bytes(target) == [1])
    #expect(try fixture.listing() == ["file"])
  }

  @Test("the part file of a killed writer is reused, and permissions are kept")
  func leftover() throws {
    try write([[1]])
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: target)
    try Data(repeating: 9, count: 1000).write(to: URL(filePath: target + ".part"))
    try write([[2, 3]])
    #expect(try fixture.bytes(target) == [2, 3])
    #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o640)
    #expect(try fixture.listing() == ["file"])
  }

  @Test("a symbolic link at the part file's path is not followed, and a directory is not replaced")
  func obstacles() throws {
    let other = fixture.directory.appending(path: "other").path
    try Data([7]).write(to: URL(filePath: other))
    try FileManager.default.createSymbolicLink(atPath: target + ".part", withDestinationPath: other)
    #expect(throws: SatchelError.self) { try write([[1]]) }
    #expect(try fixture.bytes(other) == [7])
    unlink(target + ".part")
    mkdir(target, 0o755)
    #expect(throws: SatchelError.self) { try write([[1]]) }
    #expect(try fixture.listing() == ["file", "other"])
  }

  @Test("what is no file is not replaced, nor behind a symbolic link", arguments: [false, true])
  func special(isLinked: Bool) throws {
    let pipe = isLinked ? target + ".pipe" : target
    #expect(mkfifo(pipe, 0o644) == 0)
    if isLinked { try FileManager.default.createSymbolicLink(atPath: target, withDestinationPath: pipe) }
    let left = try fixture.listing()
    for follows in [false, true] {
      let error = #expect(throws: SatchelError.self) {
        try AtomicFile(replacing: target, followsLinks: follows).commit()
      }
      #expect(error?.code == .invalid && error?.message.contains("a named pipe") == true)
    }
    #expect(try fixture.listing() == left)
  }

  @Test("a writer that does not wait is refused while another one has the file")
  func contention() throws {
    var first = try AtomicFile(replacing: target)
    try [1 as UInt8].withUnsafeBytes { try first.append($0) }
    #expect(try code { _ = try AtomicFile(replacing: target, contention: .fail) } == .busy)
    try first.commit()
    #expect(try fixture.bytes(target) == [1])
    try AtomicFile(replacing: target, contention: .fail).commit()
    #expect(try fixture.bytes(target) == [])
  }

  @Test("a moved file replaces another one only on request")
  func move() throws {
    try write([[1]])
    try Data([2]).write(to: URL(filePath: target + ".new"))
    #expect(throws: SatchelError.self) {
      try AtomicFile.move(target + ".new", to: target, replacing: false)
    }
    #expect(try fixture.bytes(target) == [1])
    #expect(try fixture.listing() == ["file"])
    try Data([2]).write(to: URL(filePath: target + ".new"))
    try AtomicFile.move(target + ".new", to: target, replacing: true)
    #expect(try fixture.bytes(target) == [2])
    try Data([3]).write(to: URL(filePath: target + ".new"))
    try AtomicFile.move(target + ".new", to: target + "2", replacing: false)
    #expect(try fixture.listing() == ["file", "file2"])
  }

  @Test("writers on several threads wait for each other")
  func manyWriters() throws {
    let failures = Locked(0)
    let target = target
    inParallel(Array(0..<64 as Range<UInt8>), limit: 8) { number in
      do {
        try Self.write([[UInt8](repeating: number, count: 300_000), [number]], to: target)
      } catch {
        failures.withLock { $0 += 1 }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    let bytes = try fixture.bytes(target)
    #expect(bytes.count == 300_001 && Set(bytes).count == 1)
    #expect(try fixture.listing() == ["file"])
  }
}
