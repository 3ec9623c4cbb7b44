import CNettle
import SatchelStorage

/// A key for sensitive values, in memory that is erased when nobody needs it.
///
/// What the caller made it of is the caller's to forget.
// Unchecked: the bytes do not change between making and erasing.
final class EncryptionKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  static let length = 32
  /// Bytes that name a key.
  static let nameLength = 8

  private let bytes: UnsafeMutableRawBufferPointer
  /// Names the key without telling anything about it.
  let name: [UInt8]

  /// - Throws: `.invalid` unless there are 32 bytes
  init(_ key: [UInt8]) throws {
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

  var description: String { "key" }
  var customMirror: Mirror { Mirror(self, children: []) }

  /// Encrypts, and gives what was encrypted with the tag behind it (AES-256-GCM).
  ///
  /// - Parameter context: what the tag vouches for, too
  func encrypt(_ text: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8] {
    withCipher(nonce, context) { cipher in
      var sealed = [UInt8](repeating: 0, count: text.count + Self.tagLength)
      nettle_gcm_aes256_encrypt(cipher, text.count, &sealed, text)
      sealed.withUnsafeMutableBytes { room in
        let tag = room[text.count...].withMemoryRebound(to: UInt8.self) { $0.baseAddress }
        nettle_gcm_aes256_digest(cipher, Self.tagLength, tag)
      }
      return sealed
    }
  }

  /// Decrypts; nil for what was not encrypted by this key, with this nonce, in this context.
  func decrypt(_ sealed: some Collection<UInt8>, nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
    guard sealed.count >= Self.tagLength else { return nil }
    let (hidden, tag) = (Array(sealed.dropLast(Self.tagLength)), Array(sealed.suffix(Self.tagLength)))
    return withCipher(nonce, context) { cipher in
      var text = [UInt8](repeating: 0, count: hidden.count)
      nettle_gcm_aes256_decrypt(cipher, hidden.count, &text, hidden)
      var expected = [UInt8](repeating: 0, count: Self.tagLength)
      nettle_gcm_aes256_digest(cipher, Self.tagLength, &expected)
      // In a time that does not tell how much of the tag is right.
      guard nettle_memeql_sec(expected, tag, Self.tagLength) == 1 else { return nil }
      return text
    }
  }

  static let tagLength = 16

  private func withCipher<Result>(
    _ nonce: [UInt8], _ context: [UInt8], _ body: (UnsafeMutablePointer<gcm_aes256_ctx>) -> Result
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
