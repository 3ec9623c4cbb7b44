import CNettle

/// An incremental SHA-256 hash.
package struct SHA256 {
  private var context = sha256_ctx()

  package init() { nettle_sha256_init(&context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    nettle_sha256_update(&context, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  /// Writes the digest, cut to the buffer's size, and resets the hash.
  package mutating func digest(into buffer: UnsafeMutableRawBufferPointer) {
    let count = min(buffer.count, Int(SHA256_DIGEST_SIZE))
    nettle_sha256_digest(&context, count, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  /// Returns the digest of 32 bytes, and resets the hash.
  package mutating func digest() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
    bytes.withUnsafeMutableBytes { digest(into: $0) }
    return bytes
  }

  /// Returns the digest of `bytes`.
  package static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.digest()
  }

  package static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.withContiguousStorageIfAvailable { digest(UnsafeRawBufferPointer($0)) }
      ?? Array(bytes).withUnsafeBytes { digest($0) }
  }

  /// Returns the HMAC-SHA-256 of a message (RFC 2104).
  package static func authenticationCode(_ message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
    key.withUnsafeBytes { key in
      var hmac = HMAC(key: key)
      Array(message).withUnsafeBytes { hmac.update($0) }
      return hmac.digest()
    }
  }
}

/// An incremental HMAC-SHA-256 (RFC 2104).
package struct HMAC: Sendable {
  private var context = hmac_sha256_ctx()

  package init(key: UnsafeRawBufferPointer) {
    nettle_hmac_sha256_set_key(&context, key.count, key.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    nettle_hmac_sha256_update(&context, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  /// Returns the code of 32 bytes, and begins another message under the same key.
  package mutating func digest() -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
    nettle_hmac_sha256_digest(&context, code.count, &code)
    return code
  }
}

extension Sequence<UInt8> {
  /// The bytes as hexadecimal digits, two each, in lower case.
  package var hexadecimal: String {
    withContiguousStorageIfAvailable { HexadecimalName.text(of: UnsafeRawBufferPointer($0)) }
      ?? Array(self).withUnsafeBytes { HexadecimalName.text(of: $0) }
  }
}
