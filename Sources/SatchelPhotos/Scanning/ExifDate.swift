/// A date as EXIF writes it: "2024:02:29 12:30:45", in a zone that another tag may name.
enum ExifDate {
  /// Years that a photo can be of; what lies before is a clock that was never set.
  private static let firstYear: Int64 = -5_364_662_400  // 1800-01-01

  /// Unix seconds.
  ///
  /// - Parameters:
  ///   - text: the date; other separators than EXIF's are understood, a fraction of a second is rounded down
  ///   - offset: "+02:00" or "Z"; what is none of these counts as absent
  ///   - zone: where the date is taken when there is no offset: seconds east of UTC
  /// - Returns: nil when the text is no date, as "0000:00:00 00:00:00" is none
  static func seconds(_ text: String, offset: String, zone: Int64) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 16, bytes.count <= 40 else { return nil }
    let date = String(decoding: bytes[0..<4], as: UTF8.self) + "-" + part(bytes, 5) + "-" + part(bytes, 8)
    guard [4, 7].allSatisfy({ ":-/.".utf8.contains(bytes[$0]) }), " T".utf8.contains(bytes[10]) else {
      return nil
    }
    // Seconds are left out by some.
    let isShort = bytes.count == 16
    let time = date + "T" + String(decoding: bytes[11...], as: UTF8.self) + (isShort ? ":00" : "")
    if let whole = ISODate.milliseconds(time) { return taken(whole) }
    if let exact = ISODate.milliseconds(time + offset) { return taken(exact) }
    return ISODate.milliseconds(time + "Z").flatMap { taken($0 - zone * 1000) }
  }

  private static func part(_ bytes: [UInt8], _ start: Int) -> String {
    String(decoding: bytes[start..<start + 2], as: UTF8.self)
  }

  private static func taken(_ milliseconds: Int64) -> Int64? {
    let seconds = milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
    return seconds >= firstYear ? seconds : nil
  }
}
