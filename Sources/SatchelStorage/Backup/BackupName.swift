/// `<stem>-20261121T093000123Z.satchel`: sorts by time as text, too.
struct BackupName: Equatable {
  let stem: String
  /// Unix milliseconds.
  let time: Int64

  private static let suffix = ".satchel"

  init(stem: String, time: Int64) {
    self.stem = stem
    self.time = min(max(time, 0), Self.latest)
  }

  /// Reads a name; nil for any that `text` would not have made.
  init?(_ name: String, stem: String) {
    let prefix = stem + "-"
    guard name.hasPrefix(prefix), name.hasSuffix(Self.suffix) else { return nil }
    let digits = name.dropFirst(prefix.count).dropLast(Self.suffix.count).utf8.map { Int32($0) - 48 }
    guard digits.count == 19 else { return nil }
    func number(_ range: Range<Int>) -> Int32 { digits[range].reduce(0) { $0 &* 10 &+ $1 } }
    var parts = tm()
    parts.tm_year = number(0..<4) - 1900
    parts.tm_mon = number(4..<6) - 1
    parts.tm_mday = number(6..<8)
    parts.tm_hour = number(9..<11)
    parts.tm_min = number(11..<13)
    parts.tm_sec = number(13..<15)
    self.init(stem: stem, time: Int64(timegm(&parts)) * 1000 + Int64(number(15..<18)))
    // Whatever was no digit, or out of its range, reads back as another text.
    guard text == name else { return nil }
  }

  var text: String {
    var seconds = time_t(time / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int) -> String {
      String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }
    return "\(stem)-" + digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2)
      + digits(parts.tm_mday, 2)
      + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
      + digits(Int32(time % 1000), 3) + "Z" + Self.suffix
  }

  /// The name of a store's file, without the ending of its own.
  static func stem(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    let stem = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    return stem.isEmpty || stem == ":memory:" ? "store" : stem
  }

  /// The end of the year 9999.
  private static let latest: Int64 = 253_402_300_799_999
}
