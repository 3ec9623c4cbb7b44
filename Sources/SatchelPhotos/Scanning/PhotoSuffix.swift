/// Which files are photos, by the end of their names in any case.
enum PhotoSuffix {
  private static let all: Set<[UInt8]> = Set(
    [
      "jpg", "jpeg", "jpe", "jfif", "png", "gif", "heic", "heif", "hif", "avif", "tif", "tiff", "webp", "bmp",
      // As cameras write them.
      "dng", "cr2", "cr3", "crw", "nef", "nrw", "arw", "srf", "sr2", "orf", "rw2", "raf", "pef", "srw", "x3f",
      "3fr", "fff", "iiq", "rwl", "mrw", "kdc", "dcr", "erf", "mef", "mos",
    ].map { Array($0.utf8) })

  /// - Parameter name: a file's name, which need not be UTF-8
  static func isPhoto(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    guard let suffix = suffix(of: name) else { return false }
    return all.contains(suffix)
  }

  /// Whether the name promises one of the formats whose first bytes are looked at.
  static func isKnownFormat(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    switch suffix(of: name).map({ String(decoding: $0, as: UTF8.self) }) {
    case "jpg", "jpeg", "jpe", "jfif", "png": true
    default: false
    }
  }

  /// In lower case; nil when there is none, or none so short.
  private static func suffix(of name: some BidirectionalCollection<UInt8>) -> [UInt8]? {
    let end = name.suffix(5)
    guard let dot = end.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return end[end.index(after: dot)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}
