import Foundation
import Testing

@testable import SatchelStorage

@Suite("The spill file")
struct SpillFileTests {
  let fixture: SpillFixture
  var spill: SpillFile { fixture.spill }

  init() throws { fixture = try SpillFixture() }

  @Test("gives back what was appended, in order, also to another handle")
  func roundTrip() throws {
    #expect(!spill.isPending)
    #expect(try spill.read() == nil)
    var numbers: [Int64] = []
    for number in 0..<50 { numbers.append(try spill.append(SpillFixture.payload(number))) }
    #expect(spill.isPending)
    let content = try #require(try spill.read())
    #expect(content.frames.map(\.payload) == (0..<50).map(SpillFixture.payload))
    #expect(content.frames.map(\.number) == numbers)
    #expect(numbers == numbers.sorted() && Set(numbers).count == 50 && numbers.allSatisfy { $0 > 0 })
    #expect(content.damages.isEmpty)
    #expect(content.identity.count == 32)
  }

  @Test("an entry may hold any bytes, a whole spill file too, and be large")
  func anyBytes() throws {
    let file = try fixture.make(entries: 5).bytes
    let payloads = [file, [0], Array(repeating: 0, count: 5_000_000), Array(UInt8.min...UInt8.max)]
    for payload in payloads { try spill.append(payload) }
    #expect(try spill.read()?.frames.suffix(4).map(\.payload) == payloads)
    #expect(try code { _ = try spill.append([]) } == .invalid)
  }

  @Test("cut off at every length it gives every entry that is whole, and says where the rest begins")
  func everyPrefix() throws {
    let (bytes, starts) = try fixture.make(entries: 8)
    let ends = starts.dropFirst() + [bytes.count]
    for length in 0...bytes.count {
      try fixture.put(Array(bytes[..<length]))
      let content = try spill.read()
      guard length > 0 else {
        #expect(content == nil)
        continue
      }
      let whole = ends.prefix { $0 <= length }.count
      #expect(content?.frames.map(\.payload) == (0..<whole).map(SpillFixture.payload), "\(length) bytes")
      let sound =
        length < SpillFormat.headSize ? 0 : max(SpillFormat.headSize, ends.last { $0 <= length } ?? 0)
      let expected =
        sound == length
        ? [] : [SpillDamage(offset: Int64(sound), count: Int64(length - sound), kind: .cutShort)]
      #expect(content?.damages == expected, "\(length) bytes")
    }
  }

  @Test("sectors of the last entry that a loss of power left unwritten are no damage: nobody was told of it")
  func unwrittenSectors() throws {
    let long = Array("{\"text\":\"\(String(repeating: "x", count: 2000))\"}".utf8)
    for count in [0, 3] {
      try fixture.put([])
      for number in 0..<count { try spill.append(SpillFixture.payload(number)) }
      let start = count == 0 ? 0 : try fixture.storage.bytes(fixture.path).count
      try spill.append(long)
      let whole = try fixture.storage.bytes(fixture.path)
      for first in stride(from: start / 512 * 512, to: whole.count, by: 512) {
        for last in stride(from: first, to: whole.count, by: 512) {
          var torn = whole
          for offset in max(first, start)..<min(last + 512, whole.count) { torn[offset] = 0 }
          try fixture.put(torn)
          let content = try #require(try spill.read())
          #expect(content.frames.count == count && content.isComplete, "\(count) entries, \(first)–\(last)")
          #expect(try spill.finish(content, time: 1) == .removed)
        }
      }
    }
    // One that was acknowledged and is damaged is still told.
    for number in 0..<3 { try spill.append(SpillFixture.payload(number)) }
    var bytes = try fixture.storage.bytes(fixture.path)
    bytes[bytes.count - 5] ^= 1
    try fixture.put(bytes)
    let content = try #require(try spill.read())
    #expect(content.frames.count == 2 && !content.isComplete)
  }

  @Test("after any cut, what is appended next is read, and nothing that was whole is lost")
  func appendAfterCut() throws {
    let (bytes, starts) = try fixture.make(entries: 4)
    let ends = starts.dropFirst() + [bytes.count]
    for length in 0...bytes.count {
      try fixture.put(Array(bytes[..<length]))
      let added = [Array("after".utf8), Array("and again".utf8)]
      for payload in added { try spill.append(payload) }
      let content = try #require(try spill.read())
      let whole = ends.prefix { $0 <= length }.count
      #expect(
        content.frames.map(\.payload) == (0..<whole).map(SpillFixture.payload) + added, "\(length) bytes")
      #expect(content.frames.map(\.number) == content.frames.map(\.number).sorted())
    }
  }

  @Test("any changed byte costs the entry it stands in and no other, and is told with its place")
  func everyByte() throws {
    let (bytes, starts) = try fixture.make(entries: 6)
    let identity = try #require(try spill.read()).identity
    for offset in bytes.indices {
      for mask: UInt8 in [0x01, 0xFF] {
        var flipped = bytes
        flipped[offset] ^= mask
        try fixture.put(flipped)
        let content = try #require(try spill.read())
        let hit = starts.lastIndex { $0 <= offset }
        let expected = (0..<6).filter { $0 != hit }.map(SpillFixture.payload)
        #expect(content.frames.map(\.payload) == expected, "byte \(offset)")
        #expect(content.damages.count == 1, "byte \(offset)")
        #expect(content.damages.allSatisfy { $0.offset <= offset && offset < $0.offset + $0.count })
        #expect(content.identity == identity, "byte \(offset)")
      }
    }
  }

  @Test("with any byte of the head changed it can be appended to, under the same identity")
  func headDamage() throws {
    let bytes = try fixture.make(entries: 2).bytes
    let identity = try #require(try spill.read()).identity
    for offset in 0..<SpillFormat.headSize {
      var flipped = bytes
      flipped[offset] ^= 0x10
      try fixture.put(flipped)
      try spill.append(SpillFixture.payload(2))
      let content = try #require(try spill.read())
      #expect(content.frames.map(\.payload) == (0..<3).map(SpillFixture.payload), "byte \(offset)")
      #expect(content.identity == identity)
    }
  }

  @Test(
    "rubbish in its place is kept, told, and never taken for an entry", arguments: [1, 15, 64, 100, 20_000])
  func rubbish(count: Int) throws {
    var generator = SystemRandomNumberGenerator()
    let rubbish = (0..<count).map { _ in UInt8.random(in: 1...255, using: &generator) }
    try fixture.put(rubbish)
    #expect(try spill.read()?.frames.isEmpty == true)
    try spill.append(SpillFixture.payload(1))
    let content = try #require(try spill.read())
    #expect(content.frames.map(\.payload) == [SpillFixture.payload(1)])
    #expect(content.damages == [SpillDamage(offset: 0, count: Int64(count), kind: .unreadable)])
    #expect(try fixture.storage.bytes(fixture.path).starts(with: rubbish))
  }

  @Test("it goes when all of it is in the store; what was appended meanwhile keeps it")
  func finish() throws {
    _ = try fixture.make(entries: 2)
    let first = try #require(try spill.read())
    try spill.append(SpillFixture.payload(2))
    #expect(try spill.finish(first, time: 1) == .kept)
    let second = try #require(try spill.read())
    #expect(try spill.finish(second, time: 1) == .removed)
    #expect(try fixture.storage.listing().isEmpty)
    // Another process may have come first.
    #expect(try spill.finish(second, time: 1) == .removed)
    _ = try fixture.make(entries: 1)
    #expect(try spill.finish(second, time: 1) == .kept)
    #expect(try spill.read()?.identity != second.identity)
  }

  @Test("with damage it is set aside and not deleted")
  func finishDamaged() throws {
    var bytes = try fixture.make(entries: 2).bytes
    bytes[70] ^= 1
    try fixture.put(bytes)
    let content = try #require(try spill.read())
    #expect(try spill.finish(content, time: 7) == .setAside(fixture.path + ".set-aside-7"))
    #expect(try fixture.storage.bytes(fixture.path + ".set-aside-7") == bytes)
    #expect(!spill.isPending)
    #expect(try spill.setAside(time: 8) == nil)
    _ = try fixture.make(entries: 1)
    #expect(try spill.setAside(time: 7) == fixture.path + ".set-aside-7-2")
  }

  @Test("whoever may not read the store may not read what is on its way there")
  func mode() throws {
    _ = try fixture.storage.makeStore()
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.storage.path)
    try spill.append(SpillFixture.payload(0))
    let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }
}
