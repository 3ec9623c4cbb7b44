import SatchelTesting

extension SeededRandom {
  /// Any integer, often a small or an extreme one.
  mutating func integer() -> Int64 {
    switch below(5) {
    case 0: return pick([0, 1, -1, .max, .min, 999_999_999_999_999_999, 1_000_000_000_000_000_000])
    case 1: return Int64(bitPattern: next())
    default: return Int64(below(4_000_000_000)) - 1_000_000_000
    }
  }

  mutating func natural() -> Int64 { max(0, integer()) }

  /// A string, sometimes with characters that have to be quoted.
  mutating func text() -> String {
    let parts = [
      "IMG_", "0001", ".jpg", " ", ",", "\"", "\"\"", "\n", "\r", "\r\n", "É", "東京", "👩‍👧", "\u{FEFF}", "\0",
      "-",
      "md5", "0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,x,1,1,1,,,", "\n0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,x,1,1,1,,,",
    ]
    return (0..<below(6)).map { _ in pick(parts) }.joined()
  }
}
