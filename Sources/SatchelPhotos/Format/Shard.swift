import SatchelCore
import SatchelStorage

/// A sixteenth of a catalogue: the photos whose MD5 begins with the same hexadecimal digit.
public enum Shard {
  /// A shard's number: 0 to 15.
  public struct Index: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: Int

    /// Makes the index of a shard; nil outside 0 to 15.
    public init?(_ number: Int) {
      guard (0...15).contains(number) else { return nil }
      self.number = number
    }

    init(firstDigitOf md5: MD5) { number = Int(md5.high >> 60) }

    /// Makes the index from a single hexadecimal digit in either case; nil for anything else.
    package init?(digit: String) {
      guard digit.utf8.count == 1, let number = Int(digit, radix: 16) else { return nil }
      self.init(number)
    }

    /// The digit: "0" to "f".
    public var description: String { String(number, radix: 16) }

    /// The name of the shard's file: "0.csv" to "f.csv".
    package var fileName: String { "\(self).csv" }

    /// All sixteen indexes, in order.
    public static let all: [Index] = (0...15).compactMap { Index($0) }

    public static func < (left: Index, right: Index) -> Bool { left.number < right.number }
  }

  /// The maximum size of a shard in the remote, in bytes: some three million photos.
  static let maximumSize: Int64 = 256 << 20

  /// The checksum of the empty file, which is the file of a shard without photos.
  static let emptyChecksum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  /// Returns the SHA-256 of a shard's bytes: 64 hexadecimal digits in lower case.
  static func checksum(_ bytes: UnsafeRawBufferPointer) -> String { SHA256.digest(bytes).hexadecimal }

  static func checksum(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { checksum($0) } }

}
