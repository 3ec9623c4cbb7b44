/// Computes the hashes of a string without one of its bytes, for every byte, in time linear in its length.
///
/// A polynomial hash supports this; the standard library's does not. Callers compare the strings of equal
/// hashes.
struct VariantHash {
  private static let modulus: UInt64 = (1 << 61) - 1
  // Random in each process, so that ids cannot be chosen to collide.
  private static let base = UInt64.random(in: 1 << 32..<modulus)

  /// The hash of the prefix before each byte; the array is kept between calls.
  private var prefixes: [UInt64] = []

  /// Returns the hash of the whole string.
  static func whole(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0) { sum(product($0, base), UInt64($1) + 1) }
  }

  /// Calls `body` with each offset and the hash of the string without the byte at it.
  mutating func forEach(_ bytes: UnsafeRawBufferPointer, _ body: (Int, UInt64) -> Void) {
    prefixes.removeAll(keepingCapacity: true)
    var prefix: UInt64 = 0
    for byte in bytes {
      prefixes.append(prefix)
      prefix = Self.sum(Self.product(prefix, Self.base), UInt64(byte) + 1)
    }
    var suffix: UInt64 = 0
    var power: UInt64 = 1
    for index in bytes.indices.reversed() {
      body(index, Self.sum(Self.product(prefixes[index], power), suffix))
      suffix = Self.sum(Self.product(UInt64(bytes[index]) + 1, power), suffix)
      power = Self.product(power, Self.base)
    }
  }

  private static func sum(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let sum = one + other
    return sum >= modulus ? sum - modulus : sum
  }

  // Both are below 2^61, so that the upper part of the product does not overflow.
  private static func product(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let (high, low) = one.multipliedFullWidth(by: other)
    return sum(low & modulus, high << 3 | low >> 61)
  }
}
