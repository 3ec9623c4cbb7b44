import SatchelCore
import SatchelStorage

/// The source of a photo's date, from the best one to the worst.
public enum PhotoDateSource: String, Sendable, CaseIterable {
  /// EXIF's DateTimeOriginal: when the photo was taken.
  case original = "date_time_original"
  /// EXIF's DateTimeDigitized.
  case digitized = "date_time_digitized"
  /// XMP in the file: its DateTimeOriginal, else DateCreated or CreateDate.
  case xmp
  /// XMP in a file beside the photo.
  case sidecar = "xmp_sidecar"
  /// IPTC's date of creation.
  case iptc
  /// EXIF's DateTime: when the file was written by its program.
  case written = "date_time"
  /// The time of the satellites that showed the position.
  case gps
  /// The JSON file that Google Takeout puts beside the photo.
  case takeout
  /// The name of the file.
  case name
  /// The time of the file: nothing else could be read as a date.
  case file

  /// The value in the table: 1 is the best source.
  var number: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) + 1 }

  /// Whether the date is in the photo's file.
  var isInFile: Bool {
    switch self {
    case .original, .digitized, .xmp, .iptc, .written, .gps: true
    case .sidecar, .takeout, .name, .file: false
    }
  }

  init(number: Int64) throws {
    guard let source = Self.allCases.first(where: { $0.number == number }) else {
      throw SatchelError(.damaged, "photo_local: \(number) is not a source of dates")
    }
    self = source
  }
}

/// Exposure times in the notation of cameras: "1/200", "0.3", "2.5".
enum ShutterSpeed {
  /// The range of seconds: from a millionth to some weeks.
  static let range: ClosedRange<Double> = 1e-6...1e7

  /// Returns the text of a time that a camera has measured: rounded, as cameras show it.
  static func text(measured seconds: Double) -> String? {
    guard range.contains(seconds) else { return nil }
    // The limits and digits of exiftool.
    if seconds < 0.25001 { return "1/\(Int64((1 / seconds).rounded()))" }
    return decimal((seconds * 10).rounded() / 10)
  }

  /// Returns the text of a time that a program has given: the same time.
  static func text(exactly seconds: Double) -> String? {
    guard range.contains(seconds) else { return nil }
    let parts = (1 / seconds).rounded()
    if seconds < 1, 1 / parts == seconds { return "1/\(Int64(parts))" }
    let text = decimal(seconds)
    return isValid(text) ? text : nil
  }

  private static func decimal(_ seconds: Double) -> String {
    let text = seconds.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Whether a string is a number, or a fraction of two, of seconds in the range.
  static func isValid(_ text: String) -> Bool { seconds(text).map(range.contains) ?? false }

  /// Returns the seconds that a string represents; nil when it is not a time.
  static func seconds(_ text: String) -> Double? {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), text.utf8.count <= 32 else { return nil }
    var numbers: [Double] = []
    for part in parts {
      let digits = part.filter { (0x30...0x39).contains($0) }.count
      let points = part.filter { $0 == UInt8(ascii: ".") }.count
      guard digits > 0, points <= 1, digits + points == part.count,
        let number = Double(String(decoding: part, as: UTF8.self))
      else { return nil }
      numbers.append(number)
    }
    guard numbers.count == 2 else { return numbers[0] }
    return numbers[1] > 0 ? numbers[0] / numbers[1] : nil
  }
}
