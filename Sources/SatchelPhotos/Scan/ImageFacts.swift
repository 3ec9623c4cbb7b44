import SatchelCore

/// The metadata of an image file. All of it is untrusted input.
struct ImageFacts: Sendable, Equatable {
  private(set) var format = ImageFormat.other
  /// Pixels; before the rotation of `orientation`, and after the one that a container asks for.
  private(set) var width: Int64?
  private(set) var height: Int64?
  /// Unix seconds: the date of the best source.
  private(set) var date: Int64?
  /// Where the date is from; nil without a date.
  private(set) var dateSource: PhotoDateSource?
  /// The offset of the time on the wall at that date: seconds east of UTC; nil when it is unknown.
  private(set) var utcOffset: Int64?
  var cameraMake: String?
  var cameraModel: String?
  /// The EXIF orientation: 1 to 8.
  var orientation: Int64?
  /// Degrees, positive in the north and east; both or neither.
  private(set) var latitude: Double?
  private(set) var longitude: Double?
  /// The f-number.
  var aperture: Double?
  /// Such as "1/200".
  var shutterSpeed: String?
  var iso: Int64?
  /// Millimetres.
  var focalLength: Double?
  /// The parts that could not be read.
  private(set) var remark: String?
  /// The library that is missing to read more, and the consequences.
  var missingLibrary: String?

  private let zone: PhotoTimeZone

  /// - Parameters:
  ///   - head: the file's first bytes
  ///   - file: a descriptor for the others, and the file's size; nil when there are no others
  ///   - name: the file's name, which shows the expected format
  ///   - zone: the zone of dates without one
  init(
    head: UnsafeRawBufferPointer, file: (number: Int32, size: Int64)? = nil, name: String, zone: PhotoTimeZone
  ) {
    self.zone = zone
    let bytes = ImageBytes(
      ImageSource(head: head, file: file?.number, size: file?.size ?? Int64(head.count)))
    format = ImageFormat(bytes)
    var parts = ImageParts(bytes, format: format)
    (width, height) = (parts.width, parts.height)
    bytes.source.renewLimits()
    if let exif = parts.exif {
      read(exif)
      if exif.isDamaged { parts.note(.exif) }
    }
    if !hasOwnDate {
      if let xmp = parts.xmp { readXMP(xmp.prefix(XMPPacket.maxSize)) }
      if let iptc = parts.iptc { readIPTC(iptc) }
    }
    let isExpected = format != .other && format != .film
    if !isExpected, FileName.isKnownFormat(Array(name.utf8)) {
      remark = "its first bytes are not those of an image"
    } else if !parts.faults.isEmpty {
      remark = parts.faults.map(\.rawValue).joined(separator: "; ")
    }
  }

  /// Whether the camera wrote a date into the file.
  private var hasOwnDate: Bool { dateSource == .original || dateSource == .digitized }

  /// Takes a date, if there is none of a better source.
  mutating func found(_ source: PhotoDateSource, _ found: ImageDate?) {
    guard let found, dateSource.map({ source.number < $0.number }) ?? true else { return }
    date = found.seconds(zone: zone)
    utcOffset = found.localOffset(zone: zone)
    dateSource = source
  }

  /// Sets the position, unless it is the one that programs write for none: 0° north, 0° east.
  mutating func setPosition(_ north: Double, _ east: Double) {
    if north != 0 || east != 0 { (latitude, longitude) = (north, east) }
  }
}
