/// A date of an image: the time on the wall where it was taken, and the zone of that, where it is known.
struct ImageDate: Sendable, Equatable {
  /// Unix seconds as if the time were in UTC.
  private var wall: Int64
  /// Seconds east of UTC; nil without a zone. Of a time in UTC, the time on the wall is unknown.
  private(set) var offset: Int64?
  private var isUTC = false

  /// The earliest date that is plausible; earlier ones come from clocks that were never set: 1800-01-01.
  private static let first: Int64 = -5_364_662_400

  /// Returns Unix seconds.
  ///
  /// - Parameter zone: the zone of dates without one
  func seconds(zone: PhotoTimeZone) -> Int64 { wall - (localOffset(zone: zone) ?? 0) }

  /// Returns the offset of the time on the wall: seconds east of UTC; nil when that is unknown.
  func localOffset(zone: PhotoTimeZone) -> Int64? { isUTC ? nil : offset ?? zone.offset(atWall: wall) }

  /// Parses dates as EXIF and XMP have them: "2024:02:29 12:30:45", "2024-02-29T12:30:45+02:00", without seconds, with
  /// a fraction, without a time, with a blank instead of a zero.
  ///
  /// - Parameter offset: the zone of another tag: "+02:00", "+2:00", "+0200", "+02" or "Z"; anything else counts as
  ///   absent
  /// - Returns: nil when it is not a date, as "0000:00:00 00:00:00"
  init?(_ text: String, offset: String = "") {
    guard text.utf8.count <= 40 else { return nil }
    var scanner = DateScanner(text)
    guard let year = scanner.number(4...4), scanner.skip(":-/."), let month = scanner.number(1...2),
      scanner.skip(":-/."), let day = scanner.number(1...2)
    else { return nil }
    var time: (Int64, Int64, Int64) = (0, 0, 0)
    var zone: Int64?
    if scanner.skip(" T") {
      guard let hour = scanner.number(1...2), scanner.skip(":"), let minute = scanner.number(1...2) else {
        return nil
      }
      time = (hour, minute, 0)
      if scanner.skip(":") {
        guard let second = scanner.number(1...2) else { return nil }
        time.2 = second
        if scanner.skip(".,") { scanner.skipDigits() }
      }
      zone = scanner.offset()
    }
    guard scanner.isAtEnd else { return nil }
    self.init(year: year, month: month, day: day, time: time, offset: zone ?? Self.offset(offset))
  }

  /// Parses dates of IPTC: "20240229", and "123045+0200".
  init?(compactDay day: String, time: String) {
    var scanner = DateScanner(day)
    guard let year = scanner.number(4...4), let month = scanner.number(2...2),
      let day = scanner.number(2...2), scanner.isAtEnd
    else { return nil }
    var (clock, offset): ((Int64, Int64, Int64), Int64?) = ((0, 0, 0), nil)
    scanner = DateScanner(time)
    if let hour = scanner.number(2...2), let minute = scanner.number(2...2),
      let second = scanner.number(2...2)
    {
      clock = (hour, minute, second)
      offset = scanner.offset()
    }
    self.init(year: year, month: month, day: day, time: clock, offset: offset)
  }

  /// A time of satellites.
  init?(utcDay day: String, hour: Double, minute: Double, second: Double) {
    guard let date = ImageDate(day), date.offset == nil, (0..<24).contains(hour), (0..<60).contains(minute),
      (0..<61).contains(second)
    else { return nil }
    self = date
    wall += Int64(hour * 3600 + minute * 60 + second)
    isUTC = true
  }

  /// A time in UTC.
  init?(unixSeconds seconds: Int64) {
    guard (Self.first...253_402_300_799).contains(seconds) else { return nil }
    (wall, offset, isUTC) = (seconds, nil, true)
  }

  /// - Returns: nil for days and times that do not exist; second 60 is the next minute's first
  init?(year: Int64, month: Int64, day: Int64, time: (Int64, Int64, Int64), offset: Int64?) {
    guard (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
      (0...23).contains(time.0), (0...59).contains(time.1), (0...60).contains(time.2)
    else { return nil }
    wall = Self.days(year: year, month: month, day: day) * 86_400 + time.0 * 3600 + time.1 * 60 + time.2
    self.offset = offset
    guard wall >= Self.first else { return nil }
  }

  /// Returns the number of days from 1970 to a day.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Years begin in March here, so that a leap day is the last one.
    let shifted = year - (month <= 2 ? 1 : 0)
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Returns the year of a time in UTC.
  static func year(of seconds: Int64) -> Int64 {
    // Close to it, then exactly.
    var year = 1970 + seconds / 31_556_952
    while days(year: year, month: 1, day: 1) * 86_400 > seconds { year -= 1 }
    while days(year: year + 1, month: 1, day: 1) * 86_400 <= seconds { year += 1 }
    return year
  }

  static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func offset(_ text: String) -> Int64? {
    var scanner = DateScanner(text)
    let offset = scanner.offset()
    return scanner.isAtEnd ? offset : nil
  }
}

/// Reads the parts of dates from a string's start.
struct DateScanner {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) { self.init(Array(text.utf8)) }

  init(_ bytes: [UInt8], at position: Int = 0) { (self.bytes, self.position) = (bytes, position) }

  var isAtEnd: Bool { position >= bytes.count }

  /// Whether a digit is next.
  var isAtDigit: Bool { position < bytes.count && (0x30...0x39).contains(bytes[position]) }

  /// Reads a number of some digits, the first ones of which may be blanks.
  mutating func number(_ widths: ClosedRange<Int>) -> Int64? {
    let start = position
    if widths.upperBound == 2 {
      while position < bytes.count, position - start < 1, bytes[position] == 0x20 { position += 1 }
    }
    var value: Int64 = 0
    var digits = 0
    while isAtDigit, position - start < widths.upperBound {
      value = value * 10 + Int64(bytes[position] - 0x30)
      position += 1
      digits += 1
    }
    if digits > 0, position - start >= widths.lowerBound { return value }
    position = start
    return nil
  }

  mutating func skip(_ any: String) -> Bool {
    guard position < bytes.count, any.utf8.contains(bytes[position]) else { return false }
    position += 1
    return true
  }

  /// Skips a text.
  mutating func skip(text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  /// Reads a number with this number of digits.
  mutating func digits(_ count: Int) -> Int64? {
    let start = position
    if let value = number(count...count), bytes[start] != 0x20 { return value }
    position = start
    return nil
  }

  /// Reads a time in the name of a file: "230638", "23.06.38", "230638123".
  mutating func clock() -> (Int64, Int64, Int64)? {
    guard let hour = digits(2) else { return nil }
    let isSeparated = skip("-_.:")
    guard let minute = digits(2), skip("-_.:") == isSeparated, let second = digits(2), hour < 24, minute < 60,
      second < 60
    else { return nil }
    let start = position
    skipDigits()
    return position - start <= 3 ? (hour, minute, second) : nil
  }

  mutating func skipDigits() { while isAtDigit { position += 1 } }

  /// Reads "Z", "+02:00", "+2:00", "+0200" or "+02"; returns seconds east of UTC.
  mutating func offset() -> Int64? {
    let start = position
    _ = skip(" ")
    if skip("Zz") { return 0 }
    let isWest = position < bytes.count && bytes[position] == UInt8(ascii: "-")
    guard skip("+-"), let hours = number(1...2) else {
      position = start
      return nil
    }
    var minutes: Int64 = 0
    if skip(":") || isAtDigit {
      guard let value = number(2...2) else {
        position = start
        return nil
      }
      minutes = value
    }
    guard hours <= 15, minutes <= 59 else {
      position = start
      return nil
    }
    return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
  }
}
