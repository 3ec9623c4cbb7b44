import SatchelCore
import SatchelJSON
import SatchelStorage

extension ImageFacts {
  /// Reads what the file itself does not say: from a sidecar, from the JSON file of Google Takeout, and from the name.
  ///
  /// - Parameters:
  ///   - name: the file's name
  ///   - read: returns the bytes of a file in the same directory; nil without it
  mutating func readOutside(name: String, _ read: (String) -> [UInt8]?) {
    guard dateSource == nil || dateSource == .written || dateSource == .gps else { return }
    for name in Self.sidecars(of: name) {
      guard let packet = read(name) else { continue }
      readXMP(packet, .sidecar)
      break
    }
    guard dateSource == nil else { return }
    for name in Self.takeouts(of: name) {
      guard let bytes = read(name), readTakeout(bytes) else { continue }
      break
    }
    found(.name, ImageDate(fileName: name))
  }

  /// Returns a name without its suffix, and the suffix with its dot.
  private static func split(_ name: String) -> (stem: String, suffix: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }

  private static func sidecars(of name: String) -> [String] {
    let stem = split(name).stem
    return [name + ".xmp", stem + ".xmp", stem + ".XMP", name + ".XMP"]
  }

  /// Returns the names that Takeout gives the files beside a photo, of which it cuts those that are long.
  private static func takeouts(of name: String) -> [String] {
    var (stem, suffix) = split(name)
    if stem.hasSuffix("-edited") { stem = String(stem.dropLast(7)) }
    var names = [stem + suffix]
    var number = ""
    // Takeout puts the number of a second file of a name after the suffix: "a(1).jpg" has "a.jpg(1).json".
    if stem.hasSuffix(")"), let start = stem.lastIndex(of: "("),
      stem[stem.index(after: start)...].dropLast().allSatisfy({ $0.isASCII && $0.isNumber })
    {
      number = String(stem[start...])
      names.append(String(stem[..<start]) + suffix)
    }
    var found: [String] = []
    for (index, name) in names.enumerated() {
      let end = index == 0 ? "" : number
      for middle in ["", ".supplemental-metadata"] {
        found.append(String((name + middle).prefix(46)) + end + ".json")
      }
    }
    return found.enumerated().filter { found.firstIndex(of: $0.element) == $0.offset }.map(\.element)
  }

  /// Reads Takeout's JSON.
  ///
  /// - Returns: whether it is one of a photo
  private mutating func readTakeout(_ bytes: [UInt8]) -> Bool {
    guard let json = try? bytes.withUnsafeBytes({ try JSONValue(parsing: $0) }),
      let time = json["photoTakenTime"]?["timestamp"]
    else {
      return false
    }
    let seconds: Int64? =
      switch time {
      case .string(let text): Int64(text)
      case .int(let number): number
      default: nil
      }
    guard let date = seconds.flatMap({ ImageDate(unixSeconds: $0) }) else { return false }
    found(.takeout, date)
    for place in ["geoDataExif", "geoData"] where latitude == nil {
      guard let north = Self.number(json[place]?["latitude"]),
        let east = Self.number(json[place]?["longitude"]),
        (-90...90).contains(north), (-180...180).contains(east)
      else { continue }
      setPosition(north, east)
    }
    return true
  }

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }
}

extension ImageDate {
  /// Finds the date in a name such as "IMG_20190721_230638.jpg", "2014-09-28 15.32.16.jpg" or
  /// "IMG-20190721-WA0001.jpg".
  ///
  /// - Returns: the date, at the beginning of its day when the name has no time; nil without one
  init?(fileName name: String) {
    let bytes = Array(name.utf8)
    guard bytes.count <= 255 else { return nil }
    for start in bytes.indices where start == 0 || !(0x30...0x39).contains(bytes[start - 1]) {
      guard let date = ImageDate(bytes, at: start) else { continue }
      self = date
      return
    }
    return nil
  }

  private init?(_ bytes: [UInt8], at start: Int) {
    var scanner = DateScanner(bytes, at: start)
    guard let year = scanner.digits(4), (1900...2099).contains(year) else { return nil }
    let isSeparated = scanner.skip("-_.")
    guard let month = scanner.digits(2), scanner.skip("-_.") == isSeparated, let day = scanner.digits(2)
    else { return nil }
    let isLong = scanner.isAtDigit
    if !scanner.skip(text: " at ") { _ = scanner.skip("-_ T.") }
    let time = scanner.clock()
    // More digits than those of a date are another number.
    guard !isLong || time != nil else { return nil }
    self.init(year: year, month: month, day: day, time: time ?? (0, 0, 0), offset: nil)
  }
}
