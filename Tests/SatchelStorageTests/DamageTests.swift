import Foundation
import Testing

import SatchelCore
import SatchelStorage

@Suite("Damaged stores")
struct DamageTests {
  let fixture: StorageFixture
  let sound: [UInt8]

  init() throws {
    fixture = try StorageFixture()
    sound = try fixture.makeStore(items: 200)
  }

  @Test("a store truncated to any length is damaged, and stays unchanged")
  func truncated() throws {
    var lengths = Array(1...110)
    for edge in stride(from: 512, to: sound.count, by: 512) { lengths += [edge - 1, edge, edge + 1] }
    lengths.append(sound.count - 1)
    for length in lengths {
      let cut = Array(sound[..<length])
      try fixture.put(cut)
      for isReadOnly in [false, true] {
        #expect(
          try code { _ = try fixture.open { $0.isReadOnly = isReadOnly } } == .damaged, "\(length) bytes")
      }
      #expect(try fixture.bytes() == cut, "\(length) bytes")
      #expect(try fixture.listing() == ["store"])
    }
  }

  @Test(
    "with quarantine a truncated file is renamed unchanged, and a new store is created",
    arguments: [1, 15, 16, 99, 100, 4096, 20_000])
  func quarantine(length: Int) throws {
    let cut = Array(sound[..<length])
    try fixture.put(cut)
    let database = try fixture.open { $0.quarantine = true }
    let target = try #require(database.quarantinePath)
    #expect(try fixture.bytes(target) == cut)
    #expect(try database.read { try $0.items() } == 0)
    try database.close()
    #expect(try fixture.listing().count == 2)
    // The new store is valid: nothing is quarantined again.
    #expect(try fixture.open { $0.quarantine = true }.quarantinePath == nil)
  }

  @Test(
    "a changed byte of the header has its error code",
    arguments: [
      (0, [.foreign]), (15, [.foreign]), (68, [.foreign]), (71, [.foreign]), (16, [.damaged]),
      (17, [.damaged]),
      (21, [.damaged]), (22, [.damaged]), (23, [.damaged]), (28, [.damaged]), (60, [.newer, .damaged]),
      (61, [.newer]), (62, [.newer]), (63, [.newer, .damaged]),
    ] as [(Int, Set<SatchelError.Code>)])
  func header(offset: Int, codes: Set<SatchelError.Code>) throws {
    for mask: UInt8 in [0x01, 0x80, 0xFF] {
      var flipped = sound
      flipped[offset] ^= mask
      try fixture.put(flipped)
      let result = try #require(try code { _ = try fixture.open() }, "byte \(offset), mask \(mask): opened")
      #expect(codes.contains(result), "byte \(offset), mask \(mask): \(result)")
      #expect(try fixture.bytes() == flipped)
      #expect(try fixture.listing() == ["store"])
      if codes == [.damaged] {
        let database = try fixture.open { $0.quarantine = true }
        let target = try #require(database.quarantinePath)
        #expect(try fixture.bytes(target) == flipped)
        try database.close()
        for name in try fixture.listing() where name != "store" {
          try FileManager.default.removeItem(at: fixture.directory.appending(path: name))
        }
      }
    }
  }

  @Test("with any changed byte of the header the store opens or throws, and stays unchanged")
  func anyHeaderByte() throws {
    for offset in 0..<100 { try flip(offset, mask: 0x41) }
  }

  @Test("with any changed byte of the schema the store opens or is damaged")
  func schemaPage() throws {
    for offset in stride(from: 100, to: 116, by: 1) { try flip(offset, mask: 0xFF) }
    for (place, offset) in (116..<4096).filter({ sound[$0] != 0 }).enumerated() where place % 3 == 0 {
      try flip(offset, mask: [0x01, 0x20, 0xFF][place % 9 / 3])
    }
  }

  @Test("with any changed byte of a table reading returns content or throws .damaged, and never traps")
  func tablePages() throws {
    for page in 1..<sound.count / 4096 {
      for offset in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 40, 2000, 4000, 4090] {
        try flip(page * 4096 + offset, mask: 0xFF)
        try flip(page * 4096 + offset, mask: 0x01)
      }
    }
  }

  @Test("the integrity check finds pages of random bytes")
  func rubbish() throws {
    var generator = SystemRandomNumberGenerator()
    for page in 2..<sound.count / 4096 {
      var broken = sound
      for offset in page * 4096..<(page + 1) * 4096 {
        broken[offset] = UInt8.random(in: 0...255, using: &generator)
      }
      try fixture.put(broken)
      let database = try fixture.open()
      let isFound: Bool
      do {
        isFound = try !database.checkIntegrity().isEmpty
      } catch let error as SatchelError {
        isFound = error.code == .damaged
      }
      #expect(isFound, "page \(page)")
      try database.close()
    }
  }

  /// Changes one byte, and uses the store as an app would.
  private func flip(_ offset: Int, mask: UInt8) throws {
    var flipped = sound
    flipped[offset] ^= mask
    try fixture.put(flipped)
    var opened: Database?
    let allowed: Set<SatchelError.Code> = offset < 100 ? [.damaged, .foreign, .newer] : [.damaged]
    if let code = try code(of: { opened = try fixture.open() }) {
      #expect(allowed.contains(code), "byte \(offset): \(code)")
      #expect(try fixture.bytes() == flipped, "byte \(offset)")
      return
    }
    let database = try #require(opened)
    for use: () throws -> Void in [
      { _ = try database.read { try $0.names() } }, { _ = try database.checkIntegrity() },
      { try database.write { try $0.add("more") } },
    ] {
      let code = try code(of: use)
      // A byte of the header can forbid writing.
      #expect(
        code == nil || code == .damaged || (offset == 18 && code == .readOnly),
        "byte \(offset): \(code as Any)")
    }
    try? database.close()
  }
}
