/// The kinds of files in a photo library, by the extensions of their names.
public enum FileKind: String, Sendable, CaseIterable {
  case photo
  /// A film: of its own, or the one of a live photo.
  case film
  /// A file of a program or a camera about a photo: edits, ratings, a comment.
  case sidecar

  /// The number that stands for it in `photo_file`.
  var number: Int64 {
    switch self {
    case .photo: 0
    case .film: 1
    case .sidecar: 2
    }
  }

  init?(number: Int64) {
    guard let kind = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = kind
  }

  private static let photos = set(
    """
    jpg jpeg jpe jfif mpo png gif heic heif hif avif tif tiff webp bmp jxl jp2 j2k jpx jpf \
    dng gpr cr2 cr3 crw nef nrw arw srf sr2 orf rw2 raf pef srw x3f 3fr fff iiq rwl mrw kdc dcr erf mef mos
    """)
  private static let films = set("mov mp4 m4v avi mkv mts m2ts 3gp 3g2 mpg mpeg webm wmv insv")
  private static let sidecars = set("xmp aae thm pp3 dop on1 vrd cos xpr arp")

  private static func set(_ names: String) -> Set<[UInt8]> {
    Set(names.utf8.split(separator: UInt8(ascii: " ")).map { Array($0) })
  }

  /// - Parameter suffix: an extension in lower case
  init?(suffix: [UInt8]) {
    if Self.photos.contains(suffix) {
      self = .photo
    } else if Self.films.contains(suffix) {
      self = .film
    } else if Self.sidecars.contains(suffix) {
      self = .sidecar
    } else {
      return nil
    }
  }
}

/// The parts of a file's name, whose bytes need not be UTF-8.
enum FileName {
  /// Longer extensions are none: such a dot is part of the name.
  private static let maxSuffix = 8

  /// Returns the extension in lower case, empty where there is none.
  static func suffix(_ name: some BidirectionalCollection<UInt8>) -> [UInt8] {
    let end = name.suffix(maxSuffix + 1)
    guard let dot = end.lastIndex(of: UInt8(ascii: ".")) else { return [] }
    return lowercased(end[end.index(after: dot)...])
  }

  /// Returns the name without its extension, in lower case: the names of a photo and of its films and sidecars.
  static func stem(_ name: some BidirectionalCollection<UInt8>) -> [UInt8] {
    let suffix = suffix(name)
    return lowercased(suffix.isEmpty ? name[...] : name.dropLast(suffix.count + 1))
  }

  /// Returns the name with the letters A to Z in lower case.
  static func lowercased(_ name: some Collection<UInt8>) -> [UInt8] {
    name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  /// Whether the name is of a format whose first bytes are checked.
  static func isKnownFormat(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    switch String(decoding: suffix(name), as: UTF8.self) {
    case "jpg", "jpeg", "jpe", "jfif", "mpo", "png", "gif", "heic", "heif", "hif", "avif", "tif", "tiff",
      "webp",
      "bmp", "jxl", "jp2", "j2k", "jpx", "jpf", "cr3":
      true
    default: false
    }
  }
}
