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

/// Random names of lower-case hexadecimal digits; those of 32 digits are unique in practice.
package enum HexadecimalName {
  /// - Parameter digits: an even number
  package static func random(digits: Int) -> String {
    (0..<digits / 2).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
  }

  /// Returns the bytes that a name has the digits of.
  package static func bytes(_ name: String) -> [UInt8] {
    var (bytes, high) = ([UInt8](), UInt8?.none)
    bytes.reserveCapacity(name.utf8.count / 2)
    for digit in name.utf8 {
      let value = digit < UInt8(ascii: "a") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "a") &+ 10
      if let first = high { bytes.append(first << 4 | value & 15) }
      high = high == nil ? value : nil
    }
    return bytes
  }

  /// Returns the digits of bytes, two each.
  static func text(of bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
      }
      for index in bytes.indices {
        text.initializeElement(at: index * 2, to: digit(bytes[index] >> 4))
        text.initializeElement(at: index * 2 + 1, to: digit(bytes[index] & 15))
      }
      return bytes.count * 2
    }
  }

  package static func isName(_ text: String, digits: Int) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6 }
  }
}
