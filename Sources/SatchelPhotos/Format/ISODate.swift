import SatchelJSON

/// Times of manifests and of images, in Unix milliseconds.
enum ISODate {
  /// The range of times that a year of four digits can express: 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
  private static let expressible: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_000

  /// Returns a time as "2024-02-29T12:30:00Z". Fractions of a second are rounded down; times outside of the
  /// years 0 to 9999 are clamped.
  static func string(milliseconds: Int64) -> String {
    let time = min(max(milliseconds, expressible.lowerBound), expressible.upperBound)
    return ISODateTime.text(seconds: ISODateTime.floored(time, by: 1000).quotient)
  }

  /// Returns the Unix milliseconds of a date with time and offset ("Z", "+02:00"); nil for anything else, and
  /// for days that do not exist. A fraction finer than milliseconds is rounded down; second 60 is the next
  /// minute's first.
  static func milliseconds(_ text: String) -> Int64? {
    guard text.utf8.count <= 64, let time = ISODateTime(text, lastSecond: 60) else { return nil }
    let fraction = (time.fraction + [0x30, 0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    return time.seconds * 1000 + fraction
  }
}
