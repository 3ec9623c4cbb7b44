import Foundation

/// Dates as ISO 8601 in UTC: "2027-03-05T09:30:00.000000Z".
///
/// The calendar is Gregorian for all years, as ISO 8601 and Python have it; Foundation's is Julian before 1582.
enum DateText {
  /// The microseconds since 1970 of the years 1 to 9999.
  private static let range: ClosedRange<Double> = -62_135_596_800_000_000...253_402_300_799_000_000
  private static let secondsOfDay: Int64 = 86_400

  static func text(of date: Date) throws -> String {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    guard range.contains(microseconds) else { throw FormError("the date has no year from 1 to 9999") }
    let (seconds, fraction) = floored(Int64(microseconds), by: 1_000_000)
    let (days, time) = floored(seconds, by: secondsOfDay)
    let (year, month, day) = civil(days)
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(time / 3600, 2)):"
      + "\(digits(time / 60 % 60, 2)):\(digits(time % 60, 2)).\(digits(fraction, 6))Z"
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  private static func floored(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// Reads any offset, and any number of digits of the second.
  static func date(of text: String) throws -> Date {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let year = reader.number(4, 1...9999), reader.skip("-"), let month = reader.number(2, 1...12),
      reader.skip("-"), let day = reader.number(2, 1...31), reader.skip("T") || reader.skip("t"),
      let hour = reader.number(2, 0...23), reader.skip(":"), let minute = reader.number(2, 0...59),
      reader.skip(":"), let second = reader.number(2, 0...59), let fraction = reader.fraction(),
      let offset = reader.offset(), reader.rest.isEmpty, civil(days(year, month, day)) == (year, month, day)
    else { throw FormError("not a date and time with an offset, as in “2027-03-05T09:30:00Z”") }
    let seconds = days(year, month, day) * secondsOfDay + hour * 3600 + minute * 60 + second - offset
    return Date(timeIntervalSince1970: Double(seconds) + fraction)
  }

  // MARK: The calendar

  /// Years begin in March here, so that the day that is leaped is the last one; 400 of them have 146,097 days.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floored(shifted, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard let first = rest.first, first == UInt8(ascii: character) else { return false }
      rest = rest.dropFirst()
      return true
    }

    private mutating func digits(_ limit: Int) -> ArraySlice<UInt8> {
      let found = rest.prefix(limit).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest.dropFirst(found.count)
      return found
    }

    mutating func number(_ count: Int, _ range: ClosedRange<Int64>) -> Int64? {
      let found = digits(count)
      guard found.count == count else { return nil }
      let number = found.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
      return range.contains(number) ? number : nil
    }

    /// 0 where there is none.
    mutating func fraction() -> Double? {
      guard skip(".") else { return 0 }
      let found = digits(64)
      return found.isEmpty ? nil : Double("0." + String(decoding: found, as: UTF8.self))
    }

    /// In seconds.
    mutating func offset() -> Int64? {
      if skip("Z") || skip("z") { return 0 }
      let isEast = skip("+")
      guard isEast || skip("-"), let hours = number(2, 0...23), skip(":"), let minutes = number(2, 0...59)
      else {
        return nil
      }
      return (hours * 3600 + minutes * 60) * (isEast ? 1 : -1)
    }
  }
}
