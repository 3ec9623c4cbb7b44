import CNettle

/// SHA-256, a part at a time or at once.
package struct SHA256 {
  private var context = sha256_ctx()

  package init() { nettle_sha256_init(&context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    nettle_sha256_update(&context, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  /// As many bytes of the digest as there is room for; afterwards it stands at its beginning again.
  package mutating func digest(into room: UnsafeMutableRawBufferPointer) {
    let count = min(room.count, Int(SHA256_DIGEST_SIZE))
    nettle_sha256_digest(&context, count, room.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  /// 32 bytes; afterwards it stands at its beginning again.
  package mutating func digest() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
    bytes.withUnsafeMutableBytes { digest(into: $0) }
    return bytes
  }

  /// The digest of bytes that are at hand.
  package static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.digest()
  }

  package static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.withContiguousStorageIfAvailable { digest(UnsafeRawBufferPointer($0)) }
      ?? Array(bytes).withUnsafeBytes { digest($0) }
  }

  /// The code that authenticates a message to whoever has the key (HMAC, RFC 2104).
  package static func authenticationCode(_ message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
    var context = hmac_sha256_ctx()
    nettle_hmac_sha256_set_key(&context, key.count, key)
    let message = Array(message)
    nettle_hmac_sha256_update(&context, message.count, message)
    var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
    nettle_hmac_sha256_digest(&context, code.count, &code)
    return code
  }
}
