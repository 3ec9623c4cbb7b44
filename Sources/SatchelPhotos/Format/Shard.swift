import SatchelStorage

/// A sixteenth of a catalogue: the photos whose MD5 begins with one hexadecimal digit.
public enum Shard {
  /// Which of the sixteen: 0 to 15.
  public struct Index: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 0 to 15.
    public let number: Int

    /// Nil outside 0 to 15.
    public init?(_ number: Int) {
      guard (0...15).contains(number) else { return nil }
      self.number = number
    }

    init(firstDigitOf md5: MD5) { number = Int(md5.high >> 60) }

    /// Nil when it is no single hexadecimal digit, in either case.
    public init?(digit: String) {
      guard digit.utf8.count == 1, let number = Int(digit, radix: 16) else { return nil }
      self.init(number)
    }

    /// "0" to "f".
    public var description: String { String(number, radix: 16) }

    /// "0.csv" to "f.csv".
    public var fileName: String { "\(self).csv" }

    /// All sixteen, in order.
    public static let all: [Index] = (0...15).compactMap { Index($0) }

    public static func < (left: Index, right: Index) -> Bool { left.number < right.number }
  }

  /// The checksum of the empty file, which stands for a shard without photos.
  static let emptyChecksum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  /// SHA-256 of a shard's bytes: 64 hexadecimal digits in lower case.
  static func checksum(_ bytes: UnsafeRawBufferPointer) -> String { SHA256.digest(bytes).hexadecimal }

  /// SHA-256 of a shard's bytes; see `checksum(_:)` for borrowed ones.
  static func checksum(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { checksum($0) } }

}
