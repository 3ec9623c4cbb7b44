import SatchelCore
import SatchelStorage

/// The time zone of dates that name none: an offset, or a zone of the system's database, such as "Europe/Berlin".
public struct PhotoTimeZone: Sendable, Equatable {
  public static let utc = PhotoTimeZone(offset: 0)

  /// Unix seconds from which the offsets of the same index hold, in order.
  private var starts: [Int64] = []
  private var offsets: [Int64] = []
  /// The offset before the first of these.
  private var first: Int64
  /// The rules after the last of these.
  private var rules: DaylightRules?

  /// - Parameter offset: seconds east of UTC
  init(offset: Int64) { first = offset }

  /// - Parameter text: "Z", "+02:00" or "-0330"; else the name of a zone
  /// - Throws: `SatchelError` (`invalid`) for a text that is neither, and for a zone that the system does not have
  public init(_ text: String) throws {
    var scanner = DateScanner(text)
    if let offset = scanner.offset(), scanner.isAtEnd {
      self.init(offset: offset)
      return
    }
    try self.init(name: text)
  }

  private init(name: String) throws {
    // Names have no dots, so no path leads out of the database.
    let isName =
      name.utf8.count <= 64 && !name.utf8.starts(with: "/".utf8)
      && name.utf8.allSatisfy {
        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "/_+-".utf8.contains($0)
      }
    if isName {
      for root in ["/usr/share/zoneinfo/", "/usr/lib/zoneinfo/", "/var/db/timezone/zoneinfo/"] {
        guard let bytes = try? DiskFile(root + name, O_RDONLY).read(1 << 16),
          let zone = PhotoTimeZone(database: bytes)
        else { continue }
        self = zone
        return
      }
    }
    throw SatchelError(
      .invalid,
      "time_zone: \"\(name.prefix(64))\" is neither an offset, such as \"+02:00\", nor a zone of this system, such as "
        + "\"Europe/Berlin\"")
  }

  /// Reads a file of the database (RFC 9636): of its two blocks the second one, which has times of eight bytes.
  init?(database bytes: [UInt8]) {
    let bytes = ImageBytes(bytes)
    guard bytes.starts(with: "TZif"), (bytes.byte(4) ?? 0) >= UInt8(ascii: "2"),
      let old = Self.counts(bytes, at: 0)
    else { return nil }
    let start = 44 + old.block(times: 4)
    guard bytes.has("TZif", at: start), let counts = Self.counts(bytes, at: start), counts.types > 0 else {
      return nil
    }
    let times = start + 44
    let indexes = times + counts.times * 8
    let types = indexes + counts.times
    func offset(_ type: Int64) -> Int64? {
      guard type < counts.types else { return nil }
      return bytes.uint32(types + type * 6, .big).map { Int64(Int32(truncatingIfNeeded: $0)) }
    }
    guard let first = offset(0) else { return nil }
    self.init(offset: first)
    for index in 0..<counts.times {
      guard let time = bytes.number(times + index * 8, size: 8, .big), let type = bytes.byte(indexes + index),
        let offset = offset(Int64(type))
      else { return nil }
      starts.append(Int64(bitPattern: time))
      offsets.append(offset)
    }
    // After the block, between two ends of lines.
    let footer = bytes.part(from: start + 44 + counts.block(times: 8) + 1).prefix(128)
    rules = DaylightRules(String(decoding: footer.prefix { $0 != 0x0A }, as: UTF8.self))
  }

  private struct Counts {
    var ends: Int64
    var standards: Int64
    var leaps: Int64
    var times: Int64
    var types: Int64
    var letters: Int64

    /// The size of the block, with times of so many bytes.
    func block(times width: Int64) -> Int64 {
      times * (width + 1) + types * 6 + letters + leaps * (width + 4) + standards + ends
    }
  }

  private static func counts(_ bytes: ImageBytes, at start: Int64) -> Counts? {
    let numbers = (0..<6).compactMap { bytes.uint32(start + 20 + $0 * 4, .big) }
    guard numbers.count == 6, numbers.allSatisfy({ $0 <= 1 << 16 }) else { return nil }
    return Counts(
      ends: numbers[0], standards: numbers[1], leaps: numbers[2], times: numbers[3], types: numbers[4],
      letters: numbers[5])
  }

  // MARK: Offsets

  /// Returns the offset at a moment: seconds east of UTC.
  func offset(at moment: Int64) -> Int64 {
    if let rules, moment >= starts.last ?? .min { return rules.offset(at: moment) }
    // The number of changes up to the moment.
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= moment { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : offsets[low - 1]
  }

  /// Returns the offset of a time on the wall, in seconds as if it were in UTC. Of a time that is there twice, when
  /// clocks are set back, the first one counts; one that is not there, when they are set forward, is before the change.
  func offset(atWall wall: Int64) -> Int64 {
    let before = offset(at: wall - 86_400)
    let after = offset(at: wall + 86_400)
    if before == after || offset(at: wall - before) == before { return before }
    return offset(at: wall - after) == after ? after : before
  }
}

/// The rules of a zone for the years to come, as POSIX writes them: "CET-1CEST,M3.5.0,M10.5.0/3".
private struct DaylightRules: Sendable, Equatable {
  private var standard: Int64
  private var daylight: (offset: Int64, start: Day, end: Day)?

  /// The Sunday, or another day, of a week of a month, or a day of the year, and a time on the wall.
  private struct Day: Equatable {
    var month: Int64
    var week: Int64
    var weekday: Int64
    var dayOfYear: Int64?
    /// Whether a leap day is no day of the year.
    var skipsLeapDay = false
    var seconds: Int64 = 7200
  }

  static func == (left: DaylightRules, right: DaylightRules) -> Bool {
    left.standard == right.standard && left.daylight?.offset == right.daylight?.offset
      && left.daylight?.start == right.daylight?.start && left.daylight?.end == right.daylight?.end
  }

  init?(_ text: String) {
    var parser = Parser(text)
    guard parser.name(), let west = parser.time() else { return nil }
    standard = -west
    guard parser.name() else {
      guard parser.isAtEnd else { return nil }
      return
    }
    let offset = parser.time().map { -$0 } ?? standard + 3600
    guard let start = parser.day(), let end = parser.day(), parser.isAtEnd else { return nil }
    daylight = (offset, start, end)
  }

  func offset(at moment: Int64) -> Int64 {
    guard let daylight else { return standard }
    let year = ImageDate.year(of: moment + standard)
    let start = Self.seconds(of: daylight.start, in: year) - standard
    let end = Self.seconds(of: daylight.end, in: year) - daylight.offset
    // In the south the year begins in summer.
    let isSummer = start < end ? (start..<end).contains(moment) : !(end..<start).contains(moment)
    return isSummer ? daylight.offset : standard
  }

  /// Returns when a day's time is on the wall, in seconds as if it were in UTC.
  private static func seconds(of day: Day, in year: Int64) -> Int64 {
    if let number = day.dayOfYear {
      let isAfterLeapDay = day.skipsLeapDay && number >= 60 && ImageDate.days(in: 2, of: year) == 29
      let first = ImageDate.days(year: year, month: 1, day: 1)
      return (first + number - (day.skipsLeapDay ? 1 : 0) + (isAfterLeapDay ? 1 : 0)) * 86_400 + day.seconds
    }
    let first = ImageDate.days(year: year, month: day.month, day: 1)
    // 1 January 1970 was a Thursday.
    let weekday = ((first + 4) % 7 + 7) % 7
    var number = 1 + (day.weekday - weekday + 7) % 7 + (day.week - 1) * 7
    if number > ImageDate.days(in: day.month, of: year) { number -= 7 }
    return (first + number - 1) * 86_400 + day.seconds
  }

  /// Reads the parts of the rules.
  private struct Parser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    private mutating func skip(_ letter: Character) -> Bool {
      guard position < bytes.count, bytes[position] == letter.asciiValue else { return false }
      position += 1
      return true
    }

    /// Skips a name: letters, or anything in angle brackets.
    mutating func name() -> Bool {
      let start = position
      if skip("<") {
        while position < bytes.count, bytes[position] != UInt8(ascii: ">") { position += 1 }
        return skip(">")
      }
      while position < bytes.count, (0x61...0x7A).contains(bytes[position] | 0x20) { position += 1 }
      return position - start >= 3
    }

    private mutating func number(_ range: ClosedRange<Int64>) -> Int64? {
      let start = position
      var value: Int64 = 0
      while position < bytes.count, (0x30...0x39).contains(bytes[position]), position - start < 3 {
        value = value * 10 + Int64(bytes[position] - 0x30)
        position += 1
      }
      return position > start && range.contains(value) ? value : nil
    }

    /// Reads hours, with minutes and seconds where there are any.
    mutating func time() -> Int64? {
      let isNegative = skip("-")
      if !isNegative { _ = skip("+") }
      guard var seconds = number(0...167).map({ $0 * 3600 }) else { return nil }
      for unit: Int64 in [60, 1] where skip(":") {
        guard let value = number(0...59) else { return nil }
        seconds += value * unit
      }
      return isNegative ? -seconds : seconds
    }

    mutating func day() -> Day? {
      guard skip(",") else { return nil }
      var day = Day(month: 1, week: 1, weekday: 0)
      if skip("M") {
        guard let month = number(1...12), skip("."), let week = number(1...5), skip("."),
          let weekday = number(0...6)
        else { return nil }
        day = Day(month: month, week: week, weekday: weekday)
      } else {
        day.skipsLeapDay = skip("J")
        guard let number = number(day.skipsLeapDay ? 1...365 : 0...365) else { return nil }
        day.dayOfYear = number
      }
      guard skip("/") else { return day }
      guard let seconds = time() else { return nil }
      day.seconds = seconds
      return day
    }
  }
}
