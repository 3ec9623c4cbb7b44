import SatchelCore
import SatchelRemote
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Names of photos, shards and users") struct FormatNameTests {
  @Test("An md5 as string and bytes") func md5() throws {
    let text = "0a3f9c1b2d4e5f60718293a4b5c6d7e8"
    let md5 = try #require(MD5(text))
    #expect(md5.description == text)
    #expect(MD5(text.uppercased()) == md5)
    #expect(
      md5.bytes == [
        0x0A, 0x3F, 0x9C, 0x1B, 0x2D, 0x4E, 0x5F, 0x60, 0x71, 0x82, 0x93, 0xA4, 0xB5, 0xC6, 0xD7, 0xE8,
      ])
    #expect(MD5(bytes: md5.bytes) == md5)
    #expect(MD5(bytes: md5.bytes.dropLast()) == nil)
    #expect(MD5(bytes: md5.bytes + [0]) == nil)
    #expect(md5.shard.number == 0)
  }

  @Test("Every byte at every position of an md5") func digits() {
    for index in 0..<32 {
      for byte in UInt8.min...UInt8.max {
        var bytes = [UInt8](repeating: 0x30, count: 32)
        bytes[index] = byte
        let isLower = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
        let isUpper = (0x41...0x46).contains(byte)
        bytes.withUnsafeBytes { bytes in
          #expect((MD5(digitsOf: bytes, at: 0, lowerOnly: true) != nil) == isLower)
          #expect((MD5(digitsOf: bytes, at: 0, lowerOnly: false) != nil) == (isLower || isUpper))
          #expect(MD5(digitsOf: bytes, at: 1, lowerOnly: false) == nil)
          #expect(MD5(digitsOf: bytes, at: -1, lowerOnly: false) == nil)
        }
      }
    }
  }

  @Test("The order of md5 is the order of their strings") func order() {
    var generator = SeededRandom(seed: 3)
    let all = (0..<500).map { _ in MD5(high: generator.next(), low: generator.next()) }
    #expect(all.sorted().map(\.description) == all.map(\.description).sorted())
    #expect(all.allSatisfy { $0.shard.description == String($0.description.prefix(1)) })
    #expect(all.allSatisfy { MD5($0.description) == $0 && MD5(bytes: $0.bytes) == $0 })
  }

  @Test("Sixteen shards") func shards() {
    #expect(Shard.Index.all.map(\.fileName).first == "0.csv")
    #expect(Shard.Index.all.map(\.fileName).last == "f.csv")
    #expect(Shard.Index.all.map(\.description).joined() == "0123456789abcdef")
    #expect(Shard.Index(-1) == nil)
    #expect(Shard.Index(16) == nil)
    #expect(Shard.Index(digit: "F")?.number == 15)
    for bad in ["", "g", "10", "-", "+", " 1", "é"] { #expect(Shard.Index(digit: bad) == nil) }
  }

  @Test(
    "Names of users", arguments: ["a", "A.b_c-9", "..a", "-", "_", String(repeating: "x", count: 128)])
  func users(_ name: String) throws {
    let user = try UserID(name)
    #expect(user.manifestKey == "catalogs/\(name)/manifest.json")
    #expect(Shard.Index(15).map(user.shardKey) == "catalogs/\(name)/shards/f.csv")
  }

  @Test(
    "Invalid names of users",
    arguments: [
      "", ".", "..", "...", "a/b", "../a", "a\\b", "a b", "é", "a\0", "a\n", "a%2e", "ａ", "@", "[", "`", "{",
      ":",
      String(repeating: "x", count: 129), String(repeating: ".", count: 128),
    ])
  func noUsers(_ name: String) {
    let error = #expect(throws: SatchelError.self) { try UserID(name) }
    #expect(error?.code == .invalid)
  }
}
