import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelTesting
import Testing

@testable import SatchelSync

/// An asset's bytes in memory.
struct AssetContent: AssetBytes {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Content of a size, different in each chunk.
  init(size: Int) { bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 16) } }

  var digest: AssetDigest { AssetDigest(SHA256.digest(bytes))! }
  var size: Int64 { Int64(bytes.count) }

  func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
    Array(bytes[Int(offset)...].prefix(count))
  }
}

@Suite("The sealed form of an asset") struct AssetSealTests {
  static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]
  static let key = [UInt8](0..<32)
  static let chunk = 65_536 + 16

  private func seal(_ content: AssetContent, key: [UInt8] = key) throws -> AssetSeal {
    try AssetSeal(content.digest, size: content.size, key: key)
  }

  private func sealed(_ content: AssetContent) throws -> [UInt8] {
    try SealedAsset(content, seal(content)).sealed()
  }

  /// Opens bytes that arrive in blocks.
  private func open(
    _ sealed: [UInt8], _ seal: AssetSeal, chunks: Range<Int64>? = nil, block: Int = 10_000
  ) throws -> [UInt8] {
    var (opener, content) = (AssetOpener(seal, chunks: chunks ?? 0..<seal.layout.chunks), [UInt8]())
    var rest = sealed[...]
    while !rest.isEmpty {
      try Array(rest.prefix(block)).withUnsafeBytes { try opener.receive($0) { content += $0 } }
      rest = rest.dropFirst(block)
    }
    try opener.finish()
    return content
  }

  @Test("is opened whatever the blocks in which it arrives", arguments: sizes) func roundTrip(_ size: Int)
    throws
  {
    let content = AssetContent(size: size)
    let bytes = try sealed(content)
    let seal = try seal(content)
    #expect(Int64(bytes.count) == seal.layout.length)
    #expect(bytes.count == size + 16 * max((size + 65_535) / 65_536, 1))
    for block in [bytes.count, 65_552, 1000, 17] where size < 2 || block > 17 {
      #expect(try open(bytes, seal, block: block) == content.bytes)
    }
  }

  @Test("is that of the format: another implementation has computed it") func knownAnswer() throws {
    let content = AssetContent(Array("abc".utf8))
    #expect(try sealed(content).hexadecimal == "74b4dc05f91e1221642b5db70697ee7f648e84")
  }

  @Test("is never opened when it is damaged", arguments: sizes) func damage(_ size: Int) throws {
    let content = AssetContent(size: size)
    let (bytes, seal) = (try sealed(content), try seal(content))
    func isRefused(_ bytes: [UInt8], _ seal: AssetSeal) -> Bool {
      do {
        _ = try open(bytes, seal)
        return false
      } catch let error as SatchelError {
        return error.code == .damaged && error.message.contains("\(seal.digest)")
      } catch { return false }
    }
    #expect(isRefused(Array(bytes.dropLast()), seal), "a byte is missing")
    #expect(
      isRefused(Array(bytes.dropLast((bytes.count - 1) % Self.chunk + 1)), seal), "the last chunk is missing")
    #expect(isRefused([], seal))
    #expect(isRefused(bytes + [0], seal), "a byte is added")
    #expect(isRefused(bytes + bytes.suffix(Self.chunk), seal), "a chunk is added")
    for position in [0, bytes.count / 2, bytes.count - 1] {
      var changed = bytes
      changed[position] ^= 1
      #expect(isRefused(changed, seal), "byte \(position) is changed")
    }
    var key = Self.key
    key[31] ^= 1
    #expect(isRefused(bytes, try self.seal(content, key: key)), "the key is another one")
    let other = AssetContent(content.bytes + [1])
    #expect(
      isRefused(bytes, try AssetSeal(other.digest, size: content.size, key: Self.key)),
      "the SHA-256 is another one")
    if size > Self.chunk {
      let (first, second) = (bytes.prefix(Self.chunk), bytes.dropFirst(Self.chunk).prefix(Self.chunk))
      #expect(isRefused(Array(second + first + bytes.dropFirst(2 * Self.chunk)), seal), "chunks are swapped")
      #expect(isRefused(Array(first + first + bytes.dropFirst(2 * Self.chunk)), seal), "a chunk is repeated")
    }
  }

  @Test("a shorter content is not the beginning of a longer one") func truncatedAtChunk() throws {
    let content = AssetContent(size: 131_072)
    let bytes = try sealed(content)
    let shorter = try AssetSeal(content.digest, size: 65_536, key: Self.key)
    #expect(throws: SatchelError.self) { try open(Array(bytes.prefix(Self.chunk)), shorter) }
  }

  @Test("a range of the content is read from the chunks that it touches", arguments: sizes) func ranges(
    _ size: Int
  ) throws {
    let content = AssetContent(size: size)
    let (bytes, seal) = (try sealed(content), try seal(content))
    let ends = [0, 1, 65_535, 65_536, 65_537, 131_071, size - 1, size].filter { (0...size).contains($0) }
    for start in ends {
      for end in ends where end > start {
        let chunks = seal.layout.chunks(with: Int64(start)..<Int64(end))
        let range = seal.layout.sealed(chunks)
        #expect(range.count <= end - start + 2 * Self.chunk)
        let part = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        let opened = try open(part, seal, chunks: chunks)
        let offset = start - Int(seal.layout.content(of: chunks).lowerBound)
        #expect(Array(opened[offset..<offset + end - start]) == Array(content.bytes[start..<end]))
      }
    }
  }

  @Test("is read from any offset, also while it is made") func source() throws {
    let content = AssetContent(size: 200_000)
    let (bytes, source) = (try sealed(content), try SealedAsset(content, seal(content)))
    for (offset, count) in [
      (0, 1), (65_551, 2), (65_552, 100_000), (199_999, 65), (0, bytes.count), (131_000, 300),
    ] {
      var part = [UInt8](repeating: 0, count: count)
      try part.withUnsafeMutableBytes { try source.read(into: $0, at: Int64(offset)) as Void }
      #expect(part == Array(bytes[offset..<offset + count]))
    }
  }

  @Test("is not made of bytes with another SHA-256", arguments: sizes) func changedBytes(_ size: Int) throws {
    let content = AssetContent(size: size)
    let other = AssetContent(content.bytes.isEmpty ? [7] : content.bytes.map { ~$0 })
    #expect(throws: (any Error).self) {
      try SealedAsset(other, AssetSeal(content.digest, size: content.size, key: Self.key)).sealed()
    }
  }

  @Test("a body of it is sent in parts, and refused when the bytes change meanwhile") func body() throws {
    let content = AssetContent(size: 200_000)
    let bytes = try sealed(content)
    let body = FileBody(try SealedAsset(content, seal(content)), name: "asset")
    #expect(body.count == Int64(bytes.count))
    var read: [UInt8] = []
    try body.forEachBlock(.never) { read += Array($0) }
    #expect(read == bytes)
    #expect(try body.digests(.never).sha256 == SHA256.digest(bytes))
  }

  @Test("keys are not repeated") func keys() {
    let keys = (0..<100).map { _ in AssetSeal.newKey() }
    #expect(Set(keys).count == 100)
    #expect(keys.allSatisfy { $0.count == 32 })
  }
}
