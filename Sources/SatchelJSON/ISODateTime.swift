/// A date and time with its offset from UTC, as ISO 8601 writes it: the form of times in documents and shards.
///
/// The calendar is Gregorian for all years, as ISO 8601 and Python have it; no calendar library is needed.
package struct ISODateTime {
  /// The whole seconds since 1970, in UTC.
  package let seconds: Int64
  /// The digits of the fraction of a second, as written.
  package let fraction: ArraySlice<UInt8>

  /// Reads any offset ("Z", "+02:00", "+0200"), and any number of digits of the second; nil for anything else,
  /// and for days that do not exist.
  ///
  /// - Parameters:
  ///   - years: the years that are read
  ///   - lastSecond: 60 reads a leap second as the next minute's first
  package init?(_ text: String, years: ClosedRange<Int64> = 0...9999, lastSecond: Int64 = 59) {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let year = reader.number(4, years), reader.skip("-"), let month = reader.number(2, 1...12),
      reader.skip("-"), let day = reader.number(2, 1...31), reader.skip("Tt "),
      let hour = reader.number(2, 0...23), reader.skip(":"), let minute = reader.number(2, 0...59),
      reader.skip(":"), let second = reader.number(2, 0...lastSecond), let fraction = reader.fraction(),
      let offset = reader.offset(), reader.rest.isEmpty
    else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    guard Self.date(days) == (year, month, day) else { return nil }
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    self.fraction = fraction
  }

  /// Reads any form of ISO 8601 that names a day or an instant: calendar, ordinal and week dates, extended or basic, with
  /// or without a time, whose minutes and seconds may be missing. Without a time it is the day's beginning, without an
  /// offset it is in UTC; 24:00 is the next day's beginning, and a leap second the next minute's first.
  ///
  /// - Returns: nil for anything else, and for days that do not exist
  package init?(anyForm text: String) {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let day = reader.day() else { return nil }
    var (time, offset): (Int64, Int64) = (0, 0)
    var fraction: ArraySlice<UInt8> = []
    if !reader.rest.isEmpty {
      guard reader.skip("Tt "), let found = reader.time() else { return nil }
      (time, fraction) = found
      if !reader.rest.isEmpty {
        guard let east = reader.anyOffset() else { return nil }
        offset = east
      }
    }
    guard reader.rest.isEmpty else { return nil }
    seconds = day * 86_400 + time - offset
    self.fraction = fraction
  }

  /// The seconds of the years 0 to 9999, which have four digits.
  package static let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  /// Returns a time in UTC as "2024-02-29T12:30:00Z".
  ///
  /// - Parameters:
  ///   - seconds: a time in the years 0 to 9999
  ///   - fraction: is inserted before the "Z"
  package static func text(seconds: Int64, fraction: String = "") -> String {
    let (days, time) = floored(seconds, by: 86_400)
    let (year, month, day) = date(days)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(time / 3600, 2)):"
      + "\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2))\(fraction)Z"
  }

  /// Returns a number with leading zeros.
  package static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// Divides towards negative infinity.
  package static func floored(
    _ number: Int64, by divisor: Int64
  ) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  // MARK: The calendar

  /// Returns the days since 1970. Years begin in March here, so that the leap day is a year's last, in eras of
  /// 400 years, which have 146,097 days.
  fileprivate static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let (era, yearOfEra) = floored(month <= 2 ? year - 1 : year, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  fileprivate static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}

private struct Reader {
  var rest: ArraySlice<UInt8>

  mutating func skip(_ allowed: String) -> Bool {
    guard let byte = rest.first, allowed.utf8.contains(byte) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(_ count: Int, _ range: ClosedRange<Int64>) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    rest.removeFirst(count)
    let number = digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    return range.contains(number) ? number : nil
  }

  /// Reads the digits of a fraction: none when there is no fraction, nil when it has no digits.
  mutating func fraction() -> ArraySlice<UInt8>? {
    guard skip(".,") else { return [] }
    let digits = rest.prefix { $0 &- 0x30 < 10 }
    rest.removeFirst(digits.count)
    return digits.isEmpty ? nil : digits
  }

  /// Reads an offset: seconds east of UTC.
  mutating func offset() -> Int64? {
    if skip("Zz") { return 0 }
    let isWest = rest.first == UInt8(ascii: "-")
    guard skip("+-"), let hours = number(2, 0...23) else { return nil }
    _ = skip(":")
    guard let minutes = number(2, 0...59) else { return nil }
    return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
  }

  // MARK: Any form

  /// The number of digits at the beginning.
  private var digits: Int { rest.prefix { $0 &- 0x30 < 10 }.count }

  /// Reads a calendar, an ordinal or a week date: days since 1970.
  mutating func day() -> Int64? {
    let isBasic = digits != 4
    guard let year = number(4, 0...9999) else { return nil }
    if skip("W") { return week(of: year, isBasic: true) }
    guard isBasic || skip("-") else { return nil }
    if skip("W") { return week(of: year, isBasic: false) }
    if digits == 3 {
      guard let day = number(3, 1...366) else { return nil }
      let days = ISODateTime.days(year: year, month: 1, day: 1) + day - 1
      return ISODateTime.date(days).year == year ? days : nil
    }
    guard let month = number(2, 1...12), isBasic || skip("-"), let day = number(2, 1...31) else { return nil }
    let days = ISODateTime.days(year: year, month: month, day: day)
    return ISODateTime.date(days) == (year, month, day) ? days : nil
  }

  private mutating func week(of year: Int64, isBasic: Bool) -> Int64? {
    guard let week = number(2, 1...53), isBasic || skip("-"), let day = number(1, 1...7) else { return nil }
    // The first week is that with January 4; 1970 began on a Thursday.
    func monday(_ year: Int64) -> Int64 {
      let fourth = ISODateTime.days(year: year, month: 1, day: 4)
      return fourth - ISODateTime.floored(fourth + 3, by: 7).remainder
    }
    let days = monday(year) + (week - 1) * 7 + day - 1
    return days < monday(year + 1) ? days : nil
  }

  /// Reads a time of day: its seconds, and the digits of their fraction.
  mutating func time() -> (seconds: Int64, fraction: ArraySlice<UInt8>)? {
    guard let hour = number(2, 0...24) else { return nil }
    var (minute, second): (Int64, Int64) = (0, 0)
    var fraction: ArraySlice<UInt8> = []
    let isExtended = skip(":")
    if isExtended || digits >= 2 {
      guard let found = number(2, 0...59) else { return nil }
      minute = found
      if isExtended ? skip(":") : digits >= 2 {
        guard let found = number(2, 0...60), let rest = self.fraction() else { return nil }
        (second, fraction) = (found, rest)
      }
    }
    let isWhole = minute == 0 && second == 0 && fraction.allSatisfy { $0 == 0x30 }
    return hour < 24 || isWhole ? (hour * 3600 + minute * 60 + second, fraction) : nil
  }

  /// Reads an offset whose minutes may be missing.
  mutating func anyOffset() -> Int64? {
    if rest.count == 3, !skip("Zz") {
      let isWest = rest.first == UInt8(ascii: "-")
      guard skip("+-"), let hours = number(2, 0...23) else { return nil }
      return hours * (isWest ? -3600 : 3600)
    }
    return offset()
  }
}
