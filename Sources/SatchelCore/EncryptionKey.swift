import CNettle

/// A key of AES-256-GCM, in memory that is erased when the key is released.
///
/// The caller erases its own copy of the key's bytes.
// Unchecked: the bytes do not change between initialization and deinitialization.
package final class EncryptionKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  package static let length = 32
  /// The length of a key's name.
  package static let nameLength = 8

  private let bytes: UnsafeMutableRawBufferPointer
  /// Identifies the key without revealing it: a prefix of an HMAC-SHA256.
  package let name: [UInt8]

  /// - Throws: `.invalid` unless there are 32 bytes
  package init(_ key: [UInt8]) throws {
    guard key.count == Self.length else {
      throw SatchelError(.invalid, "key: has \(key.count) bytes, and must have \(Self.length)")
    }
    bytes = .allocate(byteCount: Self.length, alignment: 16)
    bytes.copyBytes(from: key)
    name = Array(SHA256.authenticationCode("satchel".utf8, key: key).prefix(Self.nameLength))
  }

  deinit {
    eraseMemory(bytes)
    bytes.deallocate()
  }

  /// Derives a key for another purpose, which the label names.
  package func derived(_ label: String) throws -> EncryptionKey {
    var hmac = hmac()
    var label = label
    label.withUTF8 { hmac.update(UnsafeRawBufferPointer($0)) }
    var code = hmac.digest()
    defer { code.withUnsafeMutableBytes { eraseMemory($0) } }
    return try EncryptionKey(code)
  }

  /// Returns an HMAC under the key.
  package func hmac() -> HMAC { HMAC(key: UnsafeRawBufferPointer(bytes)) }

  package var description: String { "key" }
  package var customMirror: Mirror { Mirror(self, children: []) }

  // MARK: Sealing

  /// The length of what `seal` adds: a nonce and a tag.
  package static let overhead = nonceLength + tagLength

  /// Returns a random nonce, the encrypted bytes and the tag.
  ///
  /// - Parameter context: additional data that the tag authenticates
  package func seal(_ text: [UInt8], context: [UInt8]) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    // Each number is a system call.
    let nonce = [random.next(), random.next()].withUnsafeBytes { Array($0.prefix(Self.nonceLength)) }
    return nonce + encrypt(text, nonce: nonce, context: context)
  }

  /// Returns what was sealed; nil when it was not sealed with this key and context.
  package func open(_ sealed: some Collection<UInt8>, context: [UInt8]) -> [UInt8]? {
    guard sealed.count >= Self.overhead else { return nil }
    return decrypt(
      sealed.dropFirst(Self.nonceLength), nonce: Array(sealed.prefix(Self.nonceLength)), context: context)
  }

  /// Returns the encrypted bytes, followed by the tag (AES-256-GCM).
  ///
  /// - Parameter context: additional data that the tag authenticates
  package func encrypt(_ text: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8] {
    withCipher(nonce: nonce, context: context) { cipher in
      var sealed = [UInt8](repeating: 0, count: text.count + Self.tagLength)
      nettle_gcm_aes256_encrypt(cipher, text.count, &sealed, text)
      sealed.withUnsafeMutableBytes { buffer in
        let tag = buffer[text.count...].withMemoryRebound(to: UInt8.self) { $0.baseAddress }
        nettle_gcm_aes256_digest(cipher, Self.tagLength, tag)
      }
      return sealed
    }
  }

  /// Returns the decrypted bytes; nil when they were not encrypted with this key, nonce and context.
  package func decrypt(_ sealed: some Collection<UInt8>, nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
    guard sealed.count >= Self.tagLength else { return nil }
    let (hidden, tag) = (Array(sealed.dropLast(Self.tagLength)), Array(sealed.suffix(Self.tagLength)))
    return withCipher(nonce: nonce, context: context) { cipher in
      var text = [UInt8](repeating: 0, count: hidden.count)
      nettle_gcm_aes256_decrypt(cipher, hidden.count, &text, hidden)
      var expected = [UInt8](repeating: 0, count: Self.tagLength)
      nettle_gcm_aes256_digest(cipher, Self.tagLength, &expected)
      // Constant time: the duration must not reveal how many bytes of the tag match.
      guard nettle_memeql_sec(expected, tag, Self.tagLength) == 1 else { return nil }
      return text
    }
  }

  package static let tagLength = 16
  private static let nonceLength = 12

  private func withCipher<Result>(
    nonce: [UInt8], context: [UInt8], _ body: (UnsafeMutablePointer<gcm_aes256_ctx>) -> Result
  ) -> Result {
    let cipher = UnsafeMutablePointer<gcm_aes256_ctx>.allocate(capacity: 1)
    defer {
      eraseMemory(UnsafeMutableRawBufferPointer(start: cipher, count: MemoryLayout<gcm_aes256_ctx>.size))
      cipher.deallocate()
    }
    nettle_gcm_aes256_set_key(cipher, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    nettle_gcm_aes256_set_iv(cipher, nonce.count, nonce)
    nettle_gcm_aes256_update(cipher, context.count, context)
    return body(cipher)
  }
}

/// Overwrites memory with zeros in a way that the compiler must not optimize away.
package func eraseMemory(_ memory: UnsafeMutableRawBufferPointer) {
  guard let start = memory.baseAddress else { return }
  #if canImport(Darwin)
    memset_s(start, memory.count, 0, memory.count)
  #else
    explicit_bzero(start, memory.count)
  #endif
}
