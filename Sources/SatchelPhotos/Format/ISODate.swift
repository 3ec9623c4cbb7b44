/// Converts times to and from ISO 8601 in UTC, without a calendar library.
enum ISODate {
  private static let millisecondsPerDay: Int64 = 86_400_000
  /// The range of times that a year of four digits can express: 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
  private static let expressible: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_000

  /// Returns a time as "2024-02-29T12:30:00Z". Fractions of a second are rounded down; times outside of the
  /// years 0 to 9999 are clamped.
  static func string(milliseconds: Int64) -> String {
    let time = min(max(milliseconds, expressible.lowerBound), expressible.upperBound)
    let day = floored(time, millisecondsPerDay)
    let second = (time - day * millisecondsPerDay) / 1000
    let (year, month, dayOfMonth) = date(day)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
      + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
  }

  /// Returns the Unix milliseconds of a date with time and offset ("Z", "+02:00"); nil for anything else, and
  /// for days that do not exist. A fraction finer than milliseconds is rounded down; second 60 is the next
  /// minute's first.
  static func milliseconds(_ text: String) -> Int64? {
    var rest = Array(text.utf8)[...]
    guard text.utf8.count <= 64,
      let year = digits(4, &rest), skip("-", &rest), let month = digits(2, &rest), skip("-", &rest),
      let day = digits(2, &rest), skip("Tt ", &rest),
      let hour = digits(2, &rest), skip(":", &rest), let minute = digits(2, &rest), skip(":", &rest),
      let second = digits(2, &rest), let fraction = fraction(&rest), let offset = offset(&rest), rest.isEmpty,
      (1...12).contains(month), (1...daysOf(month, year)).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    let seconds = dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    return seconds * 1000 + fraction
  }

  private static func daysOf(_ month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Returns the days since 1970. Years are counted from March, so that the leap day is a year's last, in
  /// eras of 400 years.
  private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = floored(year, 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = dayNumber + 719_468
    let era = floored(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }

  private static func floored(_ value: Int64, _ divisor: Int64) -> Int64 {
    value / divisor - (value % divisor < 0 ? 1 : 0)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static func skip(_ allowed: String, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let byte = rest.first, allowed.utf8.contains(byte) else { return false }
    rest.removeFirst()
    return true
  }

  private static func digits(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    rest.removeFirst(count)
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// Reads a fraction of a second as milliseconds; 0 when there is no fraction, nil when it has no digits.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    guard skip(".,", &rest) else { return 0 }
    let digits = rest.prefix { $0 &- 0x30 < 10 }
    rest.removeFirst(digits.count)
    guard !digits.isEmpty else { return nil }
    return (digits + [0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// Reads an offset: seconds east of UTC.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    if skip("Zz", &rest) { return 0 }
    let isWest = rest.first == UInt8(ascii: "-")
    guard skip("+-", &rest), let hours = digits(2, &rest), hours < 24 else { return nil }
    _ = skip(":", &rest)
    guard let minutes = digits(2, &rest), minutes < 60 else { return nil }
    return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
  }
}
