import CNettle
import SatchelCore
import SatchelStorage

/// An encryption key for sensitive values, in memory that is erased when the key is released.
///
/// The caller erases its own copy of the key's bytes.
// Unchecked: the bytes do not change between initialization and deinitialization.
final class EncryptionKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  static let length = 32
  /// The length of a key's name.
  static let nameLength = 8

  private let bytes: UnsafeMutableRawBufferPointer
  /// Identifies the key without revealing it: a prefix of an HMAC-SHA256.
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

  /// Returns the encrypted bytes, followed by the tag (AES-256-GCM).
  ///
  /// - Parameter context: additional data that the tag authenticates
  func encrypt(_ text: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8] {
    withCipher(nonce, context) { cipher in
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
  func decrypt(_ sealed: some Collection<UInt8>, nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
    guard sealed.count >= Self.tagLength else { return nil }
    let (hidden, tag) = (Array(sealed.dropLast(Self.tagLength)), Array(sealed.suffix(Self.tagLength)))
    return withCipher(nonce, context) { cipher in
      var text = [UInt8](repeating: 0, count: hidden.count)
      nettle_gcm_aes256_decrypt(cipher, hidden.count, &text, hidden)
      var expected = [UInt8](repeating: 0, count: Self.tagLength)
      nettle_gcm_aes256_digest(cipher, Self.tagLength, &expected)
      // Constant time: the duration must not reveal how many bytes of the tag match.
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

/// The encryption keys that the host has set: the current one seals, the earlier ones still open the values
/// that they sealed.
final class Keyring: Sendable {
  typealias Keys = [[UInt8]: EncryptionKey]

  private struct State {
    var current: EncryptionKey?
    var keys: Keys = [:]
  }

  private let state = Locked(State())
  /// Held while values are resealed, so that no value is sealed with the old key meanwhile.
  let rotating = ConditionLock()

  var current: EncryptionKey? { state.withLock { $0.current } }

  var keys: Keys { state.withLock { $0.keys } }

  /// Adds a key that opens values, but does not seal yet.
  func add(_ key: EncryptionKey) { state.withLock { $0.keys[key.name] = key } }

  /// Removes a key that was added and is not the current one.
  func remove(_ key: EncryptionKey) {
    state.withLock { if $0.current?.name != key.name { $0.keys[key.name] = nil } }
  }

  /// Makes a key the current one.
  func use(_ key: EncryptionKey) {
    state.withLock {
      $0.keys[key.name] = key
      $0.current = key
    }
  }
}

/// Overwrites memory with zeros in a way that the compiler must not optimize away.
func eraseMemory(_ memory: UnsafeMutableRawBufferPointer) {
  guard let start = memory.baseAddress else { return }
  #if canImport(Darwin)
    memset_s(start, memory.count, 0, memory.count)
  #else
    explicit_bzero(start, memory.count)
  #endif
}
