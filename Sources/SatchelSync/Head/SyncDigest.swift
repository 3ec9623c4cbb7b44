import SatchelCore

/// The digest of a set of entries: the sum, modulo 2^128, of a hash of each. The order does not matter, and an entry
/// that is replaced is subtracted.
///
/// With a key the hash is an HMAC, so that guessing does not reveal whether an encrypted log has a certain
/// entry.
struct SyncDigest: Sendable, Equatable {
  private var sum: UInt128 = 0
  private let key: HMAC?

  init(key: HMAC? = nil) { self.key = key }

  /// - Returns: nil for text that is not 32 hexadecimal digits
  init?(_ text: String, key: HMAC? = nil) {
    guard HexadecimalName.isName(text, digits: 32), let sum = UInt128(text, radix: 16) else { return nil }
    self.init(key: key)
    self.sum = sum
  }

  static func == (one: SyncDigest, other: SyncDigest) -> Bool { one.sum == other.sum }

  /// 32 hexadecimal digits.
  var text: String {
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  /// Makes it the digest of no entries.
  mutating func clear() { sum = 0 }

  mutating func add(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) { sum &+= hash(key, envelope) }

  mutating func remove(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) { sum &-= hash(key, envelope) }

  mutating func add(_ key: SyncKey, _ envelope: [UInt8]) { envelope.withUnsafeBytes { add(key, $0) } }

  mutating func remove(_ key: SyncKey, _ envelope: [UInt8]) { envelope.withUnsafeBytes { remove(key, $0) } }

  /// The first 16 bytes of the hash of (key, 0, envelope), the most significant first.
  private func hash(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) -> UInt128 {
    let name = Array("\(key)\0".utf8)
    let code: [UInt8]
    if var hmac = self.key {
      name.withUnsafeBytes { hmac.update($0) }
      hmac.update(envelope)
      code = hmac.digest()
    } else {
      var hash = SHA256()
      name.withUnsafeBytes { hash.update($0) }
      hash.update(envelope)
      code = hash.digest()
    }
    return code.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
  }
}
