import SatchelCore

/// Random names of 128 bits, which are unique in practice.
enum SyncName {
  /// 32 hexadecimal digits: the name of a pack, or the id of a head.
  static func random() -> String { digits(words: 2) }

  /// 16 hexadecimal digits: the name of a sync log.
  static func randomLog() -> String { digits(words: 1) }

  private static func digits(words: Int) -> String {
    (0..<words).map { _ in UInt64.random(in: .min ... .max).bytes.hexadecimal }.joined()
  }

  /// Whether a string has `count` lower-case hexadecimal digits.
  static func isHexadecimal(_ text: String, count: Int) -> Bool {
    text.utf8.count == count
      && text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6 }
  }
}
