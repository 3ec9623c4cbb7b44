import SatchelStorage

/// A moment as signatures write it, in UTC.
struct SigningTime {
  /// As "20130524".
  let day: String
  /// As "20130524T000000Z".
  let text: String

  /// - Parameter milliseconds: Unix time
  /// - Throws: `.failed(.invalid)` outside of the years 1970 to 9999
  init(_ milliseconds: Int64) throws(ObjectStoreError) {
    var seconds = time_t(clamping: milliseconds / 1000)
    var parts = tm()
    guard milliseconds >= 0, gmtime_r(&seconds, &parts) != nil, parts.tm_year <= 9999 - 1900 else {
      throw ObjectStoreError(.failed(.invalid), "the clock tells no time that can be signed")
    }
    func digits(_ number: Int32, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
    }
    day = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
    text = day + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
  }
}
