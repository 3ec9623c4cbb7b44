/// Hashes of a text less one of its bytes, for every byte: together in time that grows with its length.
///
/// That is what a polynomial can do and a hash of a library cannot. Whoever finds a hash compares the texts.
struct VariantHash {
  private static let modulus: UInt64 = (1 << 61) - 1
  // Drawn anew by each process, so that nobody can choose ids that collide.
  private static let base = UInt64.random(in: 1 << 32..<modulus)

  /// The hashes of what stands before each byte, kept between calls.
  private var prefixes: [UInt64] = []

  /// The hash of the whole text.
  static func whole(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0) { sum(product($0, base), UInt64($1) + 1) }
  }

  /// Calls with each index, and the hash of the text without the byte there.
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

  // Both are below 2^61, so that the upper part of the product fits.
  private static func product(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let (high, low) = one.multipliedFullWidth(by: other)
    return sum(low & modulus, high << 3 | low >> 61)
  }
}
