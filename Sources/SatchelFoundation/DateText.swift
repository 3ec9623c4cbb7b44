import Foundation
import SatchelJSON

/// Dates as ISO 8601 in UTC: "2027-03-05T09:30:00.000000Z".
enum DateText {
  /// The microseconds since 1970 of the years 1 to 9999.
  private static let range: ClosedRange<Double> = -62_135_596_800_000_000...253_402_300_799_000_000

  static func text(of date: Date) throws -> String {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    guard range.contains(microseconds) else { throw FormError("the date has no year from 1 to 9999") }
    let (seconds, fraction) = ISODateTime.floored(Int64(microseconds), by: 1_000_000)
    return ISODateTime.text(seconds: seconds, fraction: "." + ISODateTime.padded(fraction, 6))
  }

  /// Reads any offset, and any number of digits of the second.
  static func date(of text: String) throws -> Date {
    guard let time = ISODateTime(text, years: 1...9999),
      let fraction = Double("0." + String(decoding: time.fraction + [0x30], as: UTF8.self))
    else { throw FormError("not a date and time with an offset, as in “2027-03-05T09:30:00Z”") }
    return Date(timeIntervalSince1970: Double(time.seconds) + fraction)
  }
}
