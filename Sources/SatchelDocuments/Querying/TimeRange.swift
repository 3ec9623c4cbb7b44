import SatchelCore
import SatchelJSON

/// The texts that a range of times cannot compare: those within a day of the time that are not in the fixed form,
/// ISO 8601 in UTC with six digits of the second, of which alone the order as text is that of the times.
///
/// Another text is on the same side of the time as its date, whatever its offset from UTC is.
struct TimeRange: Sendable {
  private static let form: StaticString = "0000-00-00T00:00:00.000000Z"

  /// The bounds as texts: the day before, and the end of the day after.
  let lower: [UInt8]
  let upper: [UInt8]

  /// - Returns: nil for a text that is not a time in the fixed form
  init?(_ text: String) {
    guard Array(text.utf8).withUnsafeBytes({ Self.isFixed($0) }), let time = ISODateTime(text) else {
      return nil
    }
    let day = 86_400 as Int64
    func date(_ seconds: Int64) -> [UInt8] { Array(ISODateTime.text(seconds: seconds).utf8.prefix(10)) }
    lower = ISODateTime.years.contains(time.seconds - day) ? date(time.seconds - day) : []
    // Every digit is less than a colon.
    upper =
      ISODateTime.years.contains(time.seconds + 2 * day) ? date(time.seconds + 2 * day) : [UInt8(ascii: ":")]
  }

  static func isFixed(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count == form.utf8CodeUnitCount else { return false }
    for index in 0..<text.count {
      let wanted = form.utf8Start[index]
      let isDigit = text[index] &- UInt8(ascii: "0") < 10
      guard wanted == UInt8(ascii: "0") ? isDigit : text[index] == wanted else { return false }
    }
    return true
  }

  /// Checks a text that is compared with the time.
  ///
  /// - Parameter id: the id of its record
  /// - Throws: `.invalid` for one that cannot be compared
  func check(_ text: UnsafeRawBufferPointer, at path: DocumentPath, id: UnsafeRawBufferPointer) throws {
    guard !Self.isFixed(text), lower.withUnsafeBytes({ text.order(against: $0) >= 0 }),
      upper.withUnsafeBytes({ text.order(against: $0) < 0 })
    else { return }
    let (text, id) = (String(decoding: text.prefix(60), as: UTF8.self), String(decoding: id, as: UTF8.self))
    throw SatchelError(
      .invalid,
      "\(path.pointer): a range of times compares only times like 2027-03-05T09:30:00.000000Z, and \(id) has "
        + "\"\(text)\"")
  }
}
