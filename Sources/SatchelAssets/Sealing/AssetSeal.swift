import SatchelCore

/// Where the bytes of an asset are in its sealed form: chunks of 64 KiB, each followed by a tag. Content without bytes
/// has one chunk.
package struct AssetLayout: Sendable, Equatable {
  package static let chunkSize: Int64 = 64 << 10
  package static let overhead = Int64(EncryptionKey.tagLength)
  /// The maximum size of an asset in bytes, as of any object that is transferred.
  package static let maximumSize: Int64 = 512 << 30

  /// The size of the content in bytes, 0 to `maximumSize`.
  package let size: Int64

  package init(size: Int64) { self.size = size }

  package var chunks: Int64 { max((size + Self.chunkSize - 1) / Self.chunkSize, 1) }

  /// The length of the sealed form.
  package var length: Int64 { size + chunks * Self.overhead }

  /// The bytes of the content in some chunks.
  package func content(of chunks: Range<Int64>) -> Range<Int64> {
    min(chunks.lowerBound * Self.chunkSize, size)..<min(chunks.upperBound * Self.chunkSize, size)
  }

  /// The bytes of the sealed form in some chunks.
  package func sealed(_ chunks: Range<Int64>) -> Range<Int64> {
    let chunk = Self.chunkSize + Self.overhead
    return min(chunks.lowerBound * chunk, length)..<min(chunks.upperBound * chunk, length)
  }

  /// The chunks that have some bytes of the content, which it has.
  package func chunks(with content: Range<Int64>) -> Range<Int64> {
    let first = content.lowerBound / Self.chunkSize
    if content.isEmpty { return first..<first }
    return first..<(content.upperBound - 1) / Self.chunkSize + 1
  }
}

/// Seals the content of one asset in chunks (STREAM): AES-256-GCM under a key that seals nothing else. The nonce is the
/// number of the chunk, and whether it is the last one, so that moved and missing chunks are detected; the SHA-256 of
/// the content is authenticated with each. The same content has the same sealed form under the same key.
package struct AssetSeal: Sendable {
  package let digest: AssetDigest
  package let layout: AssetLayout
  private let key: EncryptionKey
  private let context: [UInt8]

  /// - Parameter key: 32 bytes
  /// - Throws: `SatchelError` (`invalid`) for another key
  package init(_ digest: AssetDigest, size: Int64, key: [UInt8]) throws {
    self.digest = digest
    self.key = try EncryptionKey(key)
    layout = AssetLayout(size: size)
    context = Array("satchel asset 1".utf8) + digest.bytes
  }

  package static func newKey() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<4).flatMap { _ in withUnsafeBytes(of: random.next() as UInt64) { Array($0) } }
  }

  /// 7 zero bytes, the number of the chunk, the most significant byte first, and 1 for the last chunk.
  private func nonce(_ chunk: Int64, isLast: Bool) -> [UInt8] {
    let number = withUnsafeBytes(of: UInt32(truncatingIfNeeded: chunk).bigEndian) { Array($0) }
    return [0, 0, 0, 0, 0, 0, 0] + number + [isLast ? 1 : 0]
  }

  /// Returns a chunk sealed.
  ///
  /// - Parameter content: its bytes
  package func seal(_ content: [UInt8], chunk: Int64) -> [UInt8] {
    seal(content, chunk: chunk, isLast: chunk == layout.chunks - 1)
  }

  /// Returns a chunk sealed, of content whose size is not known yet.
  func seal(_ content: [UInt8], chunk: Int64, isLast: Bool) -> [UInt8] {
    key.encrypt(content, nonce: nonce(chunk, isLast: isLast), context: context)
  }

  /// Returns the bytes of a sealed chunk.
  ///
  /// - Throws: `SatchelError` (`damaged`) for bytes that are not this chunk
  package func open(_ sealed: some Collection<UInt8>, chunk: Int64) throws -> [UInt8] {
    guard (0..<layout.chunks).contains(chunk), sealed.count == layout.sealed(chunk..<chunk + 1).count,
      let content = key.decrypt(
        sealed, nonce: nonce(chunk, isLast: chunk == layout.chunks - 1), context: context)
    else { throw SatchelError(.damaged, "asset \(digest): chunk \(chunk) is not what was uploaded") }
    return content
  }
}

/// Opens chunks of a sealed asset that arrive in blocks of any size. Has at most one chunk in memory.
package struct AssetOpener {
  private let seal: AssetSeal
  private let end: Int64
  /// The next chunk,
  package private(set) var chunk: Int64
  /// and the bytes of it that have arrived.
  private var buffer: [UInt8] = []

  /// - Parameter chunks: those that are going to arrive
  package init(_ seal: AssetSeal, chunks: Range<Int64>) {
    self.seal = seal
    (chunk, end) = (chunks.lowerBound, chunks.upperBound)
    buffer.reserveCapacity(Int(AssetLayout.chunkSize + AssetLayout.overhead))
  }

  package var isComplete: Bool { chunk == end }

  /// Receives bytes of the object.
  ///
  /// - Parameter body: gets the content of each chunk that is complete and verified
  /// - Throws: `SatchelError` (`damaged`), also for bytes after the last chunk; the errors of `body`
  package mutating func receive(_ block: UnsafeRawBufferPointer, _ body: ([UInt8]) throws -> Void) throws {
    var rest = block[...]
    while !rest.isEmpty {
      guard chunk < end else {
        throw SatchelError(.damaged, "asset \(seal.digest): has bytes after its last chunk")
      }
      let length = seal.layout.sealed(chunk..<chunk + 1).count
      let part = rest.prefix(length - buffer.count)
      buffer.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
      guard buffer.count == length else { return }
      try body(try seal.open(buffer, chunk: chunk))
      buffer.removeAll(keepingCapacity: true)
      chunk += 1
    }
  }

  /// - Throws: `SatchelError` (`damaged`) when chunks are missing
  package func finish() throws {
    guard isComplete else {
      throw SatchelError(
        .damaged, "asset \(seal.digest): ends before chunk \(chunk) of \(seal.layout.chunks)")
    }
  }
}
