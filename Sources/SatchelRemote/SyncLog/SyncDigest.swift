import SatchelCore

/// The digest of a set of entries: the sum, modulo 2^128, of a hash of each. The order does not matter, and an entry
/// that is replaced is subtracted.
struct SyncDigest: Sendable, Equatable {
  private var sum: UInt128 = 0

  init() {}

  /// - Returns: nil for text that is not 32 hexadecimal digits
  init?(_ text: String) {
    guard SyncName.isHexadecimal(text, count: 32), let sum = UInt128(text, radix: 16) else { return nil }
    self.sum = sum
  }

  /// 32 hexadecimal digits.
  var text: String {
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  mutating func add(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) { sum &+= Self.hash(key, envelope) }

  mutating func remove(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) {
    sum &-= Self.hash(key, envelope)
  }

  mutating func add(_ key: SyncKey, _ envelope: [UInt8]) { envelope.withUnsafeBytes { add(key, $0) } }

  mutating func remove(_ key: SyncKey, _ envelope: [UInt8]) { envelope.withUnsafeBytes { remove(key, $0) } }

  /// The first 16 bytes of SHA-256(key, 0, envelope), the most significant first.
  private static func hash(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) -> UInt128 {
    var hash = SHA256()
    var name = key.description
    name.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
    [UInt8(0)].withUnsafeBytes { hash.update($0) }
    hash.update(envelope)
    return hash.digest().prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
  }
}
