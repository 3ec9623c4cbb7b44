import SatchelCore

/// The SHA-256 of an asset's bytes, by which it is named.
package struct AssetDigest: Sendable, Hashable, Comparable, CustomStringConvertible {
  package static let length = 32

  package let bytes: [UInt8]

  /// - Returns: nil unless there are 32 bytes
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = Array(bytes)
  }

  /// - Returns: nil for a text that is not 64 lower-case hexadecimal digits
  package init?(_ text: String) {
    guard HexadecimalName.isName(text, digits: Self.length * 2) else { return nil }
    bytes = HexadecimalName.bytes(text)
  }

  package init(of content: [UInt8]) { bytes = SHA256.digest(content) }

  /// 64 hexadecimal digits.
  package var description: String { bytes.hexadecimal }

  package static func < (one: Self, other: Self) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }
}
