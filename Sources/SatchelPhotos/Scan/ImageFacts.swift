import CImages

/// The metadata of an image file. All of it is untrusted input.
struct ImageFacts: Sendable, Equatable {
  /// Pixels as stored, before rotation.
  var width: Int64?
  var height: Int64?
  /// Unix seconds: when the photo was taken, else digitised, else written.
  var date: Int64?
  /// The tag that the date is from; nil without a date.
  var dateSource: PhotoDateSource?
  var cameraMake: String?
  var cameraModel: String?
  /// The EXIF orientation: 1 to 8.
  var orientation: Int64?
  /// Degrees, positive in the north and east; both or neither.
  var latitude: Double?
  var longitude: Double?
  /// The f-number.
  var aperture: Double?
  /// Such as "1/200".
  var shutterSpeed: String?
  var iso: Int64?
  /// Millimetres.
  var focalLength: Double?
  /// The parts that could not be read.
  var remark: String?
  /// The libraries that are missing to read more; see `ImageLibraries.missing`.
  var missingLibrary: String?

  private enum Format { case jpeg, png, other, unknown }

  init() {}

  /// - Parameters:
  ///   - head: the file's first bytes; all of them where `needsAll`
  ///   - file: a descriptor for the others, and the file's size; nil when there are no others
  ///   - name: the file's name, which shows the expected format
  ///   - zone: the offset of dates without a zone: seconds east of UTC
  init(
    head: UnsafeRawBufferPointer, file: (number: Int32, size: Int64)? = nil, name: String, zone: Int64,
    libraries: ImageLibraries
  ) {
    let bytes = head.assumingMemoryBound(to: UInt8.self)
    let format = Self.format(head)
    var isUnreadable = false
    switch format {
    case .jpeg:
      let isRead = readSize {
        satchel_images_jpeg_size(libraries.pointer, bytes.baseAddress, bytes.count, &$0, &$1)
      }
      isUnreadable = libraries.hasJPEG && !isRead
    case .png:
      let isRead = readSize {
        satchel_images_png_size(libraries.pointer, bytes.baseAddress, bytes.count, &$0, &$1)
      }
      isUnreadable = libraries.hasPNG && !isRead
    case .other: break
    case .unknown:
      if FileName.isKnownFormat(Array(name.utf8)) { remark = "its first bytes are not those of an image" }
    }
    var exif = satchel_exif()
    var source = satchel_image_source(
      head: bytes.baseAddress, count: bytes.count, file: file?.number ?? -1,
      size: UInt64(clamping: file?.size ?? Int64(bytes.count)))
    satchel_images_exif(libraries.pointer, &source, &exif)
    if exif.is_present { read(&exif, zone: zone) }
    if exif.width > 0, exif.height > 0 { (width, height) = (exif.width, exif.height) }
    missingLibrary = ImageLibraries.name(ofMissing: exif.missing)
    if isUnreadable { remark = "its pixel size cannot be read from its first bytes" }
    if exif.is_unreadable { remark = "its parts cannot be read" }
    if exif.is_incomplete { remark = Self.tooLarge }
    if exif.is_damaged { remark = (remark.map { $0 + "; " } ?? "") + "its EXIF is damaged" }
  }

  static let tooLarge =
    "its date and pixel size are not read: it is larger than \(PhotoFileReader.wholeMaximum >> 20) MiB"

  /// Whether the format is one whose library reads all of a file: HEIC, AVIF or WebP.
  static func needsAll(_ head: UnsafeRawBufferPointer) -> Bool {
    satchel_images_need_all(head.assumingMemoryBound(to: UInt8.self).baseAddress, head.count)
  }

  private static func format(_ head: UnsafeRawBufferPointer) -> Format {
    if head.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
    let starts = ["GIF8", "RIFF", "II*\0", "MM\0*", "BM"]
    let isOther =
      starts.contains { head.starts(with: $0.utf8) } || head.dropFirst(4).starts(with: "ftyp".utf8)
    return isOther ? .other : .unknown
  }

  private mutating func readSize(_ read: (inout Int64, inout Int64) -> Bool) -> Bool {
    var (columns, rows): (Int64, Int64) = (0, 0)
    guard read(&columns, &rows) else { return false }
    (width, height) = (columns, rows)
    return true
  }

  private mutating func read(_ exif: inout satchel_exif, zone: Int64) {
    let dates = [
      (PhotoDateSource.original, SATCHEL_EXIF_DATE_ORIGINAL, SATCHEL_EXIF_OFFSET_ORIGINAL),
      (.digitized, SATCHEL_EXIF_DATE_DIGITIZED, SATCHEL_EXIF_OFFSET_DIGITIZED),
      (.written, SATCHEL_EXIF_DATE, SATCHEL_EXIF_OFFSET),
    ]
    for (source, text, offset) in dates where date == nil {
      guard let text = Self.text(&exif, text) else { continue }
      date = ExifDate.seconds(text, offset: Self.text(&exif, offset) ?? "", zone: zone)
      if date != nil { dateSource = source }
    }
    cameraMake = Self.text(&exif, SATCHEL_EXIF_MAKE)
    cameraModel = Self.text(&exif, SATCHEL_EXIF_MODEL)
    orientation = exif.orientation > 0 ? exif.orientation : nil
    if exif.has_position { (latitude, longitude) = (exif.latitude, exif.longitude) }
    aperture = exif.aperture > 0 ? exif.aperture : nil
    shutterSpeed = exif.shutter_speed > 0 ? ShutterSpeed.text(measured: exif.shutter_speed) : nil
    iso = exif.iso > 0 ? exif.iso : nil
    focalLength = exif.focal_length > 0 ? exif.focal_length : nil
  }

  /// Returns a string of valid UTF-8, trimmed of blanks and control characters; nil when it is empty.
  private static func text(_ exif: inout satchel_exif, _ which: satchel_exif_text) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(SATCHEL_EXIF_TEXT_MAXIMUM))
    let count = satchel_exif_copy(&exif, which, &buffer, buffer.count)
    let text = buffer.prefix(count).drop { $0 <= 0x20 || $0 == 0x7F }
    let end = text.lastIndex { $0 > 0x20 && $0 != 0x7F }
    guard let end else { return nil }
    return String(decoding: text[...end], as: UTF8.self)
  }
}

/// Parses dates of EXIF: "2024:02:29 12:30:45", in a zone that another tag may name.
enum ExifDate {
  /// The earliest date that is plausible; earlier ones come from clocks that were never set.
  private static let firstYear: Int64 = -5_364_662_400  // 1800-01-01

  /// Returns the Unix seconds of a date.
  ///
  /// - Parameters:
  ///   - text: the date; other separators than those of EXIF are accepted, a fraction of a second is rounded
  ///     down
  ///   - offset: "+02:00" or "Z"; anything else counts as absent
  ///   - zone: the offset to use when `offset` is absent: seconds east of UTC
  /// - Returns: nil when the string is not a date, as "0000:00:00 00:00:00"
  static func seconds(_ text: String, offset: String, zone: Int64) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 16, bytes.count <= 40 else { return nil }
    let date = String(decoding: bytes[0..<4], as: UTF8.self) + "-" + part(bytes, 5) + "-" + part(bytes, 8)
    guard [4, 7].allSatisfy({ ":-/.".utf8.contains(bytes[$0]) }), " T".utf8.contains(bytes[10]) else {
      return nil
    }
    // Some writers leave out the seconds.
    let isShort = bytes.count == 16
    let time = date + "T" + String(decoding: bytes[11...], as: UTF8.self) + (isShort ? ":00" : "")
    if let whole = ISODate.milliseconds(time) { return plausible(whole) }
    if let exact = ISODate.milliseconds(time + offset) { return plausible(exact) }
    return ISODate.milliseconds(time + "Z").flatMap { plausible($0 - zone * 1000) }
  }

  private static func part(_ bytes: [UInt8], _ start: Int) -> String {
    String(decoding: bytes[start..<start + 2], as: UTF8.self)
  }

  private static func plausible(_ milliseconds: Int64) -> Int64? {
    let seconds = milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
    return seconds >= firstYear ? seconds : nil
  }
}

/// The image libraries, each of which may be missing.
// Unchecked: what it points to is never modified once it is made, and never freed.
struct ImageLibraries: @unchecked Sendable {
  let pointer: OpaquePointer?

  init(_ pointer: OpaquePointer?) { self.pointer = pointer }

  /// The libraries of the system, opened on first use.
  static var shared: ImageLibraries { ImageLibraries(satchel_images_shared()) }

  private var available: UInt32 { satchel_images_available(pointer) }

  var hasExif: Bool { available & UInt32(SATCHEL_IMAGES_EXIF) != 0 }
  var hasJPEG: Bool { available & UInt32(SATCHEL_IMAGES_JPEG) != 0 }
  var hasPNG: Bool { available & UInt32(SATCHEL_IMAGES_PNG) != 0 }

  /// Returns the name of a library that is opened when a file needs it, and the consequences; nil for none.
  static func name(ofMissing library: UInt32) -> String? {
    switch Int(library) {
    case Int(SATCHEL_IMAGES_HEIF): "libheif: dates and pixel sizes of HEIC and AVIF files are not read"
    case Int(SATCHEL_IMAGES_WEBP): "libwebpmux: dates and pixel sizes of WebP files are not read"
    default: nil
    }
  }

  /// The names of missing libraries, and the consequences.
  var missing: [String] {
    var missing: [String] = []
    if !hasExif { missing.append("libexif: dates, cameras and positions are not read") }
    if !hasJPEG { missing.append("libturbojpeg: the pixel sizes of JPEGs are not read") }
    if !hasPNG { missing.append("libpng16: the pixel sizes of PNGs are not read") }
    return missing
  }
}
