import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("The manifest") struct FormatManifestTests {
  static let one = String(repeating: "1a", count: 32)
  static let two = String(repeating: "2b", count: 32)

  static func parse(_ text: String) throws -> Manifest { try Manifest(parsing: Array(text.utf8)) }

  static func text(_ manifest: Manifest) throws -> String {
    String(decoding: try manifest.serialized(), as: UTF8.self)
  }

  @Test("A new manifest, byte for byte") func new() throws {
    var manifest = Manifest(directoryUUID: "7D4C")
    manifest.lastModified = 1_709_209_815_999
    manifest.photoCount = 3
    for (number, checksum) in [(15, Self.two), (0, Self.one), (3, Shard.emptyChecksum)] {
      manifest.setChecksum(checksum, of: try #require(Shard.Index(number)))
    }
    let text =
      #"{"version":"6.0","directory-uuid":"7D4C","last-modified":"2024-02-29T12:30:15Z","#
      + #""shard-checksums":{"0":"\#(Self.one)","f":"\#(Self.two)"},"photo-count":3}"#
    #expect(try Self.text(manifest) == text)
    let again = try Self.parse(text)
    #expect(again.shardChecksums == manifest.shardChecksums)
    #expect(again.lastModified == 1_709_209_815_000)
    #expect(again.photoCount == 3)
    #expect(again.directoryUUID == "7D4C")
    #expect(try Self.text(again) == text)
    #expect(again.checksum(of: Shard.Index.all[3]) == Shard.emptyChecksum)
  }

  @Test("Decimal shards, upper case, empty shards, unknown keys in their order") func forgiving() throws {
    let upper = Self.one.uppercased()
    let manifest = try Self.parse(
      #"{"z":[1,{"b":0.1}],"shard-checksums":{"15":"\#(upper)","9":"\#(Self.two)","10":"\#(Self.two)","3":null,"#
        + #""4":"\#(Shard.emptyChecksum)","16":1,"x":{}},"version":6.0,"photo-count":null,"directory-uuid":"u","a":null}"#
    )
    #expect(manifest.version == "6.0")
    #expect(
      manifest.shardChecksums == [
        try #require(Shard.Index(15)): Self.one, try #require(Shard.Index(9)): Self.two,
        try #require(Shard.Index(10)): Self.two,
      ])
    #expect(
      try Self.text(manifest)
        == #"{"z":[1,{"b":0.1}],"shard-checksums":{"9":"\#(Self.two)","a":"\#(Self.two)","f":"\#(Self.one)","16":1,"x":{}},"#
        + #""version":6.0,"directory-uuid":"u","a":null}"#)
  }

  @Test("A shard that is named twice must have one checksum") func twice() throws {
    let same =
      #"{"version":"6.0","directory-uuid":"u","shard-checksums":{"a":"\#(Self.one)","10":"\#(Self.one)"}}"#
    #expect(try Self.parse(same).shardChecksums.count == 1)
    let other = same.replacing("\"10\":\"1a", with: "\"10\":\"2a")
    #expect(throws: SatchelError.self) { try Self.parse(other) }
  }

  @Test(
    "An invalid manifest is rejected with the location",
    arguments: [
      ("", "manifest.json"), ("[]", "must be an object"), ("{", "line 1"), ("{}", "version"),
      (#"{"version":"6.0"}"#, "directory-uuid"),
      (#"{"version":true,"directory-uuid":"u","shard-checksums":{}}"#, "version"),
      (#"{"version":"six","directory-uuid":"u","shard-checksums":{}}"#, "version"),
      (#"{"version":"0","directory-uuid":"u","shard-checksums":{}}"#, "version"),
      (#"{"version":1e300,"directory-uuid":"u","shard-checksums":{}}"#, "version"),
      (#"{"version":"6.0","directory-uuid":"","shard-checksums":{}}"#, "directory-uuid"),
      (#"{"version":"6.0","directory-uuid":7,"shard-checksums":{}}"#, "directory-uuid"),
      (#"{"version":"6.0","directory-uuid":"u"}"#, "shard-checksums"),
      (#"{"version":"6.0","directory-uuid":"u","shard-checksums":[]}"#, "shard-checksums"),
      (#"{"version":"6.0","directory-uuid":"u","shard-checksums":{"a":"00"}}"#, "shard-checksums/a"),
      (#"{"version":"6.0","directory-uuid":"u","shard-checksums":{"a":7}}"#, "shard-checksums/a"),
      (#"{"version":"6.0","directory-uuid":"u","shard-checksums":{},"photo-count":-1}"#, "photo-count"),
      (#"{"version":"6.0","directory-uuid":"u","shard-checksums":{},"photo-count":1.5}"#, "photo-count"),
      (#"{"version":"6.0","directory-uuid":"u","shard-checksums":{},"last-modified":0}"#, "last-modified"),
      (#"{"version":"6.0","directory-uuid":"u","shard-checksums":{},"last-modified":"x"}"#, "last-modified"),
      (#"{"version":"6.0","version":"6.0"}"#, "duplicate"),
    ])
  func hostile(_ text: String, _ named: String) {
    let error = #expect(throws: SatchelError.self) { try Self.parse(text) }
    #expect(error?.code == .invalid)
    #expect(error?.message.hasPrefix("manifest.json") == true)
    #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
  }

  @Test("A newer version has its own error", arguments: ["\"7.0\"", "7", "\"12\""]) func newer(
    _ version: String
  ) {
    let error = #expect(throws: SatchelError.self) {
      try Self.parse(#"{"version":\#(version),"directory-uuid":"u","shard-checksums":{}}"#)
    }
    #expect(error?.code == .newer)
  }

  @Test("Older versions are read", arguments: ["\"5.1\"", "6", "\"6\""]) func older(_ version: String) throws
  {
    let text = #"{"version":\#(version),"directory-uuid":"u","shard-checksums":{}}"#
    var manifest = try Self.parse(text)
    #expect(try Self.text(manifest) == text)
    manifest.version = Manifest.currentVersion
    #expect(try Self.parse(Self.text(manifest)).version == "6.0")
  }

  @Test("A manifest over the size limit is rejected") func huge() {
    let bytes = [UInt8](repeating: 0x20, count: Manifest.maximumSize + 1)
    #expect(throws: SatchelError.self) { try Manifest(parsing: bytes) }
  }

  @Test("Mutations never trap, and writing what was read is idempotent") func mutations() throws {
    let seed = Array(
      (#"{"version":"6.0","directory-uuid":"u","last-modified":"2024-02-29T12:30:15Z","shard-checksums":"#
        + #"{"0":"\#(Self.one)","10":"\#(Self.two)"},"photo-count":3,"x":[1.5,"y"]}"#).utf8)
    var generator = SeededRandom(seed: 11)
    var accepted = 0
    for _ in 0..<5000 {
      var bytes = seed
      for _ in 0...generator.below(2) {
        let offset = generator.below(bytes.count)
        if generator.once(in: 2) {
          bytes[offset] = UInt8(truncatingIfNeeded: 0x20 + generator.below(96))
        } else {
          bytes.remove(at: offset)
        }
      }
      guard let manifest = try? Manifest(parsing: bytes) else { continue }
      accepted += 1
      let written = try manifest.serialized()
      #expect(try Manifest(parsing: written).serialized() == written)
    }
    #expect(accepted > 500)
  }
}
