import SatchelCore

/// The formats of images, recognized by their first bytes.
enum ImageFormat: String, Sendable, CaseIterable {
  case jpeg, png, gif, bmp, tiff, heic, avif, webp, jxl, jp2, cr3, raf, mrw
  /// A film, or another file of the boxes of ISO media files.
  case film
  /// Another format, of which nothing is read.
  case other

  init(_ bytes: ImageBytes) {
    self = Self.starts.first { bytes.starts(with: $0.0) }?.1 ?? .other
    if bytes.starts(with: "RIFF") { self = bytes.has("WEBP", at: 8) ? .webp : .other }
    if bytes.number(0, size: 3, .big) == 0xFF_D8FF { self = .jpeg }
    switch bytes.number(0, size: 2, .big) {
    case 0xFF0A: self = .jxl
    case 0xFF4F: self = .jp2
    default: break
    }
    if bytes.has("PNG\r\n", at: 1), bytes.byte(0) == 0x89 { self = .png }
    if bytes.has("JXL ", at: 4) { self = .jxl }
    if bytes.has("jP  ", at: 4) { self = .jp2 }
    if bytes.has("ftyp", at: 4) { self = Self.brand(bytes) }
  }

  /// TIFF, and the raw formats of Olympus and Panasonic, which have numbers of their own.
  private static let starts: [(StaticString, ImageFormat)] = [
    ("GIF8", .gif), ("BM", .bmp), ("FUJIFILMCCD-RAW ", .raf), ("\0MRM", .mrw), ("II*\0", .tiff),
    ("MM\0*", .tiff),
    ("II+\0", .tiff), ("MM\0+", .tiff), ("IIRO", .tiff), ("IIRS", .tiff), ("MMOR", .tiff), ("IIU\0", .tiff),
  ]

  /// Returns the format by the brands of the first box, its own one first.
  private static func brand(_ bytes: ImageBytes) -> ImageFormat {
    let size = min(bytes.uint32(0, .big) ?? 0, 256)
    // After the box's own brand follows its version.
    for offset in [8] + Array(stride(from: Int64(16), to: max(size - 3, 16), by: 4)) {
      guard let brand = bytes.bytes(offset, 4) else { break }
      switch String(decoding: brand, as: UTF8.self) {
      case "avif", "avis": return .avif
      case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "mif2", "msf1": return .heic
      case "crx ": return .cr3
      case "jxl ": return .jxl
      case "jp2 ", "jpx ", "jpm ", "jph ": return .jp2
      default: break
      }
    }
    return .film
  }
}

/// The parts of an image file that have metadata, as its container says.
struct ImageParts {
  /// Pixels, before the rotation that EXIF asks for, after the one that the container asks for.
  var width: Int64?
  var height: Int64?
  var exif: ExifDirectories?
  var xmp: ImageBytes?
  var iptc: ImageBytes?
  /// The reasons why parts could not be read.
  var faults: [Fault] = []

  enum Fault: String {
    case structure = "its parts cannot be read"
    case size = "its pixel size cannot be read"
    case exif = "its EXIF is damaged"
    case compressed = "its EXIF is compressed, and not read"
  }

  init() {}

  /// Reads the structure of a file.
  init(_ bytes: ImageBytes, format: ImageFormat) {
    switch format {
    case .jpeg: readJPEG(bytes)
    case .png: readPNG(bytes)
    case .webp: readWebP(bytes)
    case .gif: readGIF(bytes)
    case .bmp: readBMP(bytes)
    case .tiff: readTIFF(bytes)
    case .raf: readRAF(bytes)
    case .mrw: readMRW(bytes)
    case .heic, .avif: readHEIF(bytes)
    case .cr3: readCR3(bytes)
    case .jxl: readJXL(bytes)
    case .jp2: readJP2(bytes)
    case .film, .other: break
    }
    if bytes.source.hasFailed, faults.isEmpty { note(.structure) }
  }

  mutating func note(_ fault: Fault) { if !faults.contains(fault) { faults.append(fault) } }

  /// Sets the size, if it is possible.
  ///
  /// - Returns: whether it is
  @discardableResult
  mutating func setSize(_ columns: Int64?, _ rows: Int64?) -> Bool {
    guard let columns, let rows, columns > 0, rows > 0, max(columns, rows) <= Int32.max else { return false }
    (width, height) = (columns, rows)
    return true
  }

  /// Sets the EXIF to that of a TIFF, of which some programs keep the header of a JPEG's segment.
  mutating func setExif(_ bytes: ImageBytes) {
    guard exif == nil else { return }
    let hasHeader = bytes.starts(with: "Exif\0")
    guard let tiff = TIFF(hasHeader ? bytes.part(from: 6) : bytes) else { return note(.exif) }
    exif = ExifDirectories(tiff)
  }
}
