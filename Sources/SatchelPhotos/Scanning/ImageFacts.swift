import CImages

/// What the first bytes of a picture say of it. Nothing in them is trusted.
struct ImageFacts: Sendable, Equatable {
  /// Pixels as stored, before any turning.
  var width: Int64?
  var height: Int64?
  /// Unix seconds: the time that it was taken, else digitised, else written.
  var date: Int64?
  var cameraMake: String?
  var cameraModel: String?
  /// 1 to 8, as EXIF has it.
  var orientation: Int64?
  /// Degrees, north and east positive; both or neither.
  var latitude: Double?
  var longitude: Double?
  /// The f-number.
  var aperture: Double?
  /// Seconds.
  var shutterSpeed: Double?
  var iso: Int64?
  /// Millimetres.
  var focalLength: Double?
  /// What could not be read of it.
  var remark: String?

  private enum Format { case jpeg, png, other, unknown }

  init() {}

  /// - Parameters:
  ///   - head: the file's first bytes, at most `PhotoFileReader.headSize`
  ///   - name: the file's name, which says what to expect
  ///   - zone: what dates without a zone are in, seconds east of UTC
  init(head: UnsafeRawBufferPointer, name: String, zone: Int64, libraries: ImageLibraries) {
    let bytes = head.assumingMemoryBound(to: UInt8.self)
    let format = Self.format(head)
    var isUnreadable = false
    switch format {
    case .jpeg:
      let isRead = takeSize {
        satchel_images_jpeg_size(libraries.pointer, bytes.baseAddress, bytes.count, &$0, &$1)
      }
      isUnreadable = libraries.hasJPEG && !isRead
    case .png:
      let isRead = takeSize {
        satchel_images_png_size(libraries.pointer, bytes.baseAddress, bytes.count, &$0, &$1)
      }
      isUnreadable = libraries.hasPNG && !isRead
    case .other: break
    case .unknown:
      if PhotoSuffix.isKnownFormat(Array(name.utf8)) { remark = "does not begin like a picture" }
    }
    var exif = satchel_exif()
    satchel_images_exif(libraries.pointer, bytes.baseAddress, bytes.count, &exif)
    if exif.is_present { take(&exif, zone: zone) }
    if isUnreadable { remark = "its pixel size cannot be told from its first bytes" }
    if exif.is_damaged { remark = (remark.map { $0 + "; " } ?? "") + "its EXIF is damaged" }
  }

  private static func format(_ head: UnsafeRawBufferPointer) -> Format {
    if head.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
    let starts = ["GIF8", "RIFF", "II*\0", "MM\0*", "BM"]
    let isOther =
      starts.contains { head.starts(with: $0.utf8) } || head.dropFirst(4).starts(with: "ftyp".utf8)
    return isOther ? .other : .unknown
  }

  private mutating func takeSize(_ read: (inout Int64, inout Int64) -> Bool) -> Bool {
    var (columns, rows): (Int64, Int64) = (0, 0)
    guard read(&columns, &rows) else { return false }
    (width, height) = (columns, rows)
    return true
  }

  private mutating func take(_ exif: inout satchel_exif, zone: Int64) {
    let dates = [
      (SATCHEL_EXIF_DATE_ORIGINAL, SATCHEL_EXIF_OFFSET_ORIGINAL),
      (SATCHEL_EXIF_DATE_DIGITIZED, SATCHEL_EXIF_OFFSET_DIGITIZED), (SATCHEL_EXIF_DATE, SATCHEL_EXIF_OFFSET),
    ]
    for (text, offset) in dates where date == nil {
      guard let text = Self.text(&exif, text) else { continue }
      date = ExifDate.seconds(text, offset: Self.text(&exif, offset) ?? "", zone: zone)
    }
    cameraMake = Self.text(&exif, SATCHEL_EXIF_MAKE)
    cameraModel = Self.text(&exif, SATCHEL_EXIF_MODEL)
    orientation = exif.orientation > 0 ? exif.orientation : nil
    if exif.has_position { (latitude, longitude) = (exif.latitude, exif.longitude) }
    aperture = exif.aperture > 0 ? exif.aperture : nil
    shutterSpeed = exif.shutter_speed > 0 ? exif.shutter_speed : nil
    iso = exif.iso > 0 ? exif.iso : nil
    focalLength = exif.focal_length > 0 ? exif.focal_length : nil
  }

  /// Valid UTF-8 without blanks and control characters around it; nil when nothing is left.
  private static func text(_ exif: inout satchel_exif, _ which: satchel_exif_text) -> String? {
    var room = [UInt8](repeating: 0, count: Int(SATCHEL_EXIF_TEXT_MAXIMUM))
    let count = satchel_exif_copy(&exif, which, &room, room.count)
    let text = room.prefix(count).drop { $0 <= 0x20 || $0 == 0x7F }
    let end = text.lastIndex { $0 > 0x20 && $0 != 0x7F }
    guard let end else { return nil }
    return String(decoding: text[...end], as: UTF8.self)
  }
}
