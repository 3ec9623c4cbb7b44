import Foundation
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("The outbox file")
struct OutboxFileTests {
  let fixture: OutboxFixture
  var outboxFile: OutboxFile { fixture.outboxFile }

  init() throws { fixture = try OutboxFixture() }

  @Test("returns the appended entries in order, also to another handle")
  func roundTrip() throws {
    #expect(!outboxFile.isPending)
    #expect(try outboxFile.read() == nil)
    var numbers: [Int64] = []
    for number in 0..<50 { numbers.append(try outboxFile.append(OutboxFixture.payload(number))) }
    #expect(outboxFile.isPending)
    let content = try #require(try outboxFile.read())
    #expect(content.frames.map(\.payload) == (0..<50).map(OutboxFixture.payload))
    #expect(content.frames.map(\.number) == numbers)
    #expect(numbers == numbers.sorted() && Set(numbers).count == 50 && numbers.allSatisfy { $0 > 0 })
    #expect(content.damages.isEmpty)
    #expect(content.identity.count == 32)
  }

  @Test("an entry may contain any bytes, even those of an outbox file, and be large")
  func anyBytes() throws {
    let file = try fixture.make(entries: 5).bytes
    let payloads = [file, [0], Array(repeating: 0, count: 5_000_000), Array(UInt8.min...UInt8.max)]
    for payload in payloads { try outboxFile.append(payload) }
    #expect(try outboxFile.read()?.frames.suffix(4).map(\.payload) == payloads)
    #expect(try code { _ = try outboxFile.append([]) } == .invalid)
  }

  @Test("truncated to any length it returns all intact entries, and the offset of the rest")
  func everyPrefix() throws {
    let (bytes, starts) = try fixture.make(entries: 8)
    let ends = starts.dropFirst() + [bytes.count]
    for length in 0...bytes.count {
      try fixture.put(Array(bytes[..<length]))
      let content = try outboxFile.read()
      guard length > 0 else {
        #expect(content == nil)
        continue
      }
      let whole = ends.prefix { $0 <= length }.count
      #expect(content?.frames.map(\.payload) == (0..<whole).map(OutboxFixture.payload), "\(length) bytes")
      let sound =
        length < OutboxFormat.headerSize ? 0 : max(OutboxFormat.headerSize, ends.last { $0 <= length } ?? 0)
      let expected =
        sound == length
        ? [] : [OutboxDamage(offset: Int64(sound), count: Int64(length - sound), kind: .truncated)]
      #expect(content?.damages == expected, "\(length) bytes")
    }
  }

  @Test("unwritten sectors of the last entry after a power loss are not damage: it was not acknowledged")
  func unwrittenSectors() throws {
    let long = Array("{\"text\":\"\(String(repeating: "x", count: 2000))\"}".utf8)
    for count in [0, 3] {
      try fixture.put([])
      for number in 0..<count { try outboxFile.append(OutboxFixture.payload(number)) }
      let start = count == 0 ? 0 : try fixture.storage.bytes(fixture.path).count
      try outboxFile.append(long)
      let whole = try fixture.storage.bytes(fixture.path)
      for first in stride(from: start / 512 * 512, to: whole.count, by: 512) {
        for last in stride(from: first, to: whole.count, by: 512) {
          var torn = whole
          for offset in max(first, start)..<min(last + 512, whole.count) { torn[offset] = 0 }
          try fixture.put(torn)
          let content = try #require(try outboxFile.read())
          #expect(content.frames.count == count && content.isComplete, "\(count) entries, \(first)–\(last)")
          #expect(try outboxFile.finish(content, time: 1) == .removed)
        }
      }
    }
    // A damaged entry that was acknowledged is still reported.
    for number in 0..<3 { try outboxFile.append(OutboxFixture.payload(number)) }
    var bytes = try fixture.storage.bytes(fixture.path)
    bytes[bytes.count - 5] ^= 1
    try fixture.put(bytes)
    let content = try #require(try outboxFile.read())
    #expect(content.frames.count == 2 && !content.isComplete)
  }

  @Test("after truncation to any length, the next append is readable, and no intact entry is lost")
  func appendAfterCut() throws {
    let (bytes, starts) = try fixture.make(entries: 4)
    let ends = starts.dropFirst() + [bytes.count]
    for length in 0...bytes.count {
      try fixture.put(Array(bytes[..<length]))
      let added = [Array("after".utf8), Array("and again".utf8)]
      for payload in added { try outboxFile.append(payload) }
      let content = try #require(try outboxFile.read())
      let whole = ends.prefix { $0 <= length }.count
      #expect(
        content.frames.map(\.payload) == (0..<whole).map(OutboxFixture.payload) + added, "\(length) bytes")
      #expect(content.frames.map(\.number) == content.frames.map(\.number).sorted())
    }
  }

  @Test("any changed byte damages only its own entry, and is reported with its offset")
  func everyByte() throws {
    let (bytes, starts) = try fixture.make(entries: 6)
    let identity = try #require(try outboxFile.read()).identity
    for offset in bytes.indices {
      for mask: UInt8 in [0x01, 0xFF] {
        var flipped = bytes
        flipped[offset] ^= mask
        try fixture.put(flipped)
        let content = try #require(try outboxFile.read())
        let hit = starts.lastIndex { $0 <= offset }
        let expected = (0..<6).filter { $0 != hit }.map(OutboxFixture.payload)
        #expect(content.frames.map(\.payload) == expected, "byte \(offset)")
        #expect(content.damages.count == 1, "byte \(offset)")
        #expect(content.damages.allSatisfy { $0.offset <= offset && offset < $0.offset + $0.count })
        #expect(content.identity == identity, "byte \(offset)")
      }
    }
  }

  @Test("with any changed byte of the header, entries can be appended, with the same identity")
  func headDamage() throws {
    let bytes = try fixture.make(entries: 2).bytes
    let identity = try #require(try outboxFile.read()).identity
    for offset in 0..<OutboxFormat.headerSize {
      var flipped = bytes
      flipped[offset] ^= 0x10
      try fixture.put(flipped)
      try outboxFile.append(OutboxFixture.payload(2))
      let content = try #require(try outboxFile.read())
      #expect(content.frames.map(\.payload) == (0..<3).map(OutboxFixture.payload), "byte \(offset)")
      #expect(content.identity == identity)
    }
  }

  @Test(
    "random bytes at its path are kept, reported, and never parsed as an entry",
    arguments: [1, 15, 64, 100, 20_000])
  func rubbish(count: Int) throws {
    var generator = SystemRandomNumberGenerator()
    let rubbish = (0..<count).map { _ in UInt8.random(in: 1...255, using: &generator) }
    try fixture.put(rubbish)
    #expect(try outboxFile.read()?.frames.isEmpty == true)
    try outboxFile.append(OutboxFixture.payload(1))
    let content = try #require(try outboxFile.read())
    #expect(content.frames.map(\.payload) == [OutboxFixture.payload(1)])
    #expect(content.damages == [OutboxDamage(offset: 0, count: Int64(count), kind: .unreadable)])
    #expect(try fixture.storage.bytes(fixture.path).starts(with: rubbish))
  }

  @Test("it is removed when all entries are in the store, and kept when entries were appended meanwhile")
  func finish() throws {
    _ = try fixture.make(entries: 2)
    let first = try #require(try outboxFile.read())
    try outboxFile.append(OutboxFixture.payload(2))
    #expect(try outboxFile.finish(first, time: 1) == .kept)
    let second = try #require(try outboxFile.read())
    #expect(try outboxFile.finish(second, time: 1) == .removed)
    #expect(try fixture.storage.listing().isEmpty)
    // Another process may have removed the file first.
    #expect(try outboxFile.finish(second, time: 1) == .removed)
    _ = try fixture.make(entries: 1)
    #expect(try outboxFile.finish(second, time: 1) == .kept)
    #expect(try outboxFile.read()?.identity != second.identity)
  }

  @Test("a damaged file is quarantined, not deleted")
  func finishDamaged() throws {
    var bytes = try fixture.make(entries: 2).bytes
    bytes[70] ^= 1
    try fixture.put(bytes)
    let content = try #require(try outboxFile.read())
    #expect(try outboxFile.finish(content, time: 7) == .quarantine(fixture.path + ".quarantine-7"))
    #expect(try fixture.storage.bytes(fixture.path + ".quarantine-7") == bytes)
    #expect(!outboxFile.isPending)
    #expect(try outboxFile.quarantine(time: 8) == nil)
    _ = try fixture.make(entries: 1)
    #expect(try outboxFile.quarantine(time: 7) == fixture.path + ".quarantine-7-2")
  }

  @Test("the outbox file has the permissions of the store")
  func mode() throws {
    _ = try fixture.storage.makeStore()
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.storage.path)
    try outboxFile.append(OutboxFixture.payload(0))
    let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }
}
