import ArgumentParser
import Satchel

/// A time given on the command line: Unix seconds, or an ISO 8601 date from a month down to a second.
struct PhotoDate {
  /// The first and the last second of the given period; "2024-02" is a month. Unix seconds, or for a date without a time
  /// zone seconds since 1970 on the clock of the query.
  let seconds: ClosedRange<Int64>
  /// Whether it is a date without a time zone.
  let isOnWall: Bool

  /// - Throws: `ValidationError` for text that is not a time, and for dates that do not exist
  init(_ text: String) throws {
    if let seconds = Int64(text) {
      (self.seconds, isOnWall) = (seconds...seconds, false)
    } else if let (seconds, isOnWall) = Self.calendar(text) {
      (self.seconds, self.isOnWall) = (seconds, isOnWall)
    } else {
      let examples = "2024-02, 2024-02-29 or 2024-02-29T12:30:00+01:00"
      throw ValidationError("\(text.printable): neither a time like \(examples), nor Unix seconds")
    }
  }

  static let help =
    "as 2024-02, 2024-02-29, 2024-02-29T12:30 (with +01:00 or Z for a moment), or Unix seconds."

  private static func calendar(_ text: String) -> (seconds: ClosedRange<Int64>, isOnWall: Bool)? {
    let pattern =
      #/
      ([0-9]{4})-([0-9]{2})
      (?: -([0-9]{2})
        (?: [T\ ]([0-9]{2}):([0-9]{2}) (?: :([0-9]{2}) )?
          (Z|[+\-][0-9]{2}:?[0-9]{2})?
        )?
      )?
      /#
    guard let (_, year, month, day, hour, minute, second, zone) = text.wholeMatch(of: pattern)?.output,
      let year = Int32(year), let month = Int32(month),
      let first = moment(
        year, month, day: number(day) ?? 1, hour: number(hour) ?? 0, minute: number(minute) ?? 0,
        second: number(second) ?? 0),
      let offset = zone.map({ TimeZone($0) }) ?? TimeZone(seconds: 0)
    else { return nil }
    let length: Int64
    if day == nil {
      guard let next = month == 12 ? moment(year + 1, 1) : moment(year, month + 1) else { return nil }
      length = next - first
    } else {
      length = hour == nil ? 86_400 : second == nil ? 60 : 1
    }
    return ((first - offset.seconds)...(first - offset.seconds + length - 1), zone == nil)
  }

  private static func number(_ digits: Substring?) -> Int32? { digits.flatMap { Int32($0) } }

  /// Returns Unix seconds of a UTC date; nil for a date that does not exist.
  private static func moment(
    _ year: Int32, _ month: Int32, day: Int32 = 1, hour: Int32 = 0, minute: Int32 = 0, second: Int32 = 0
  ) -> Int64? {
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    let seconds = timegm(&parts)
    let isReal =
      (parts.tm_year, parts.tm_mon, parts.tm_mday) == (year - 1900, month - 1, day)
      && (parts.tm_hour, parts.tm_min, parts.tm_sec) == (hour, minute, second)
    return isReal ? Int64(seconds) : nil
  }
}

/// An offset from UTC in ISO 8601 form: "Z", "+02:00", "-0330".
struct TimeZone {
  /// Positive east of UTC.
  let seconds: Int64

  init(seconds: Int64) { self.seconds = seconds }

  init?(_ text: some StringProtocol) {
    guard text != "Z" else {
      self.init(seconds: 0)
      return
    }
    guard let (_, sign, hours, minutes) = String(text).wholeMatch(of: /([+-])([0-9]{2}):?([0-9]{2})/)?.output,
      let hours = Int64(hours), let minutes = Int64(minutes), hours < 24, minutes < 60
    else { return nil }
    self.init(seconds: (hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1))
  }
}
