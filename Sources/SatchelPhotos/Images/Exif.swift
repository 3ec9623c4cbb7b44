import SatchelCore

/// The directories of EXIF: the main one, and those of the photo and of its position, which the main one points to.
struct ExifDirectories {
  var main: TIFF.Directory
  var photo: TIFF.Directory?
  var position: TIFF.Directory?
  /// The TIFFs that these are in; Canon's CR3 has one for each.
  var tiffs: [TIFF]

  init(_ tiff: TIFF) {
    main = tiff.main()
    photo = main.directory(0x8769)
    position = main.directory(0x8825)
    tiffs = [tiff]
  }

  var isDamaged: Bool { tiffs.contains { $0.isDamaged } }
}

extension ImageFacts {
  /// Sets the values that are in range.
  mutating func read(_ exif: ExifDirectories) {
    let main = exif.main
    let photo = exif.photo ?? main
    // Some programs write a tag into the other directory.
    func directory(of tag: UInt16, _ usual: TIFF.Directory, _ other: TIFF.Directory) -> TIFF.Directory {
      usual.has(tag) ? usual : other
    }
    func text(_ tag: UInt16, in usual: TIFF.Directory, or other: TIFF.Directory) -> String? {
      directory(of: tag, usual, other).text(tag).flatMap(Self.trimmed)
    }
    func real(_ tag: UInt16, _ range: ClosedRange<Double>) -> Double? {
      directory(of: tag, photo, main).real(tag).flatMap { range.contains($0) ? $0 : nil }
    }
    cameraMake = text(0x010F, in: main, or: photo)
    cameraModel = text(0x0110, in: main, or: photo)
    orientation = TIFF.orientation(main: main, photo: photo)
    // Of APEX: the logarithms of the f-number's square, and of the time's inverse.
    aperture = real(0x829D, 1e-3...1e4) ?? real(0x9202, -10...26).map { rounded(exp2($0 / 2), digits: 1) }
    let seconds = real(0x829A, 1e-9...1e7) ?? real(0x9201, -23...29).map { exp2(-$0) }
    shutterSpeed = seconds.flatMap { ShutterSpeed.text(measured: $0) }
    focalLength = real(0x920A, 1e-3...1e6)
    iso = real(0x8827, 1...1e8).map { Int64($0) }
    // 65535 is the maximum of its two bytes; a greater speed is in another tag.
    if iso == nil || iso == 65535 {
      iso = (real(0x8833, 1...1e8) ?? real(0x8832, 1...1e8)).map { Int64($0) } ?? iso
    }
    if let position = exif.position { readPosition(position) }

    for (source, tag, usual, offset) in [
      (PhotoDateSource.original, UInt16(0x9003), photo, UInt16(0x9011)), (.digitized, 0x9004, photo, 0x9012),
      (.written, 0x0132, main, 0x9010),
    ] {
      let other = source == .written ? photo : main
      guard let text = text(tag, in: usual, or: other) else { continue }
      found(source, ImageDate(text, offset: self.offset(offset, in: photo, or: main)))
    }
  }

  private func offset(_ tag: UInt16, in photo: TIFF.Directory, or main: TIFF.Directory) -> String {
    (photo.has(tag) ? photo : main).text(tag).flatMap(Self.trimmed) ?? ""
  }

  private func rounded(_ value: Double, digits: Int) -> Double {
    let scale = pow(10, Double(digits))
    return (value * scale).rounded() / scale
  }

  private mutating func readPosition(_ gps: TIFF.Directory) {
    if let north = degrees(2, letter: 1, positive: "N", negative: "S", limit: 90, in: gps),
      let east = degrees(4, letter: 3, positive: "E", negative: "W", limit: 180, in: gps)
    {
      setPosition(north, east)
    }
    // The satellites' time.
    guard let day = gps.text(0x1D).flatMap(Self.trimmed) else { return }
    let parts = (0..<3).map { gps.real(7, at: UInt64($0), zero: 0) }
    guard let hour = parts[0], let minute = parts[1], let second = parts[2] else { return }
    found(.gps, ImageDate(utcDay: day, hour: hour, minute: minute, second: second))
  }

  /// Returns degrees, minutes and seconds, of which the last ones may be missing, as one number.
  private func degrees(
    _ tag: UInt16, letter: UInt16, positive: String, negative: String, limit: Double, in gps: TIFF.Directory
  ) -> Double? {
    guard let half = gps.text(letter)?.first.map({ String(UnicodeScalar($0 & ~0x20)) }),
      half == positive || half == negative, let whole = gps.real(tag)
    else { return nil }
    let count = gps.count(tag)
    guard let minutes = count > 1 ? gps.real(tag, at: 1, zero: 0) : 0,
      let seconds = count > 2 ? gps.real(tag, at: 2, zero: 0) : 0,
      whole >= 0, (0...60).contains(minutes), (0...60).contains(seconds)
    else { return nil }
    let value = whole + minutes / 60 + seconds / 3600
    guard value <= limit else { return nil }
    return half == negative && value > 0 ? -value : value
  }

  /// Returns a string of valid UTF-8, trimmed of blanks and control characters; nil when it is empty.
  static func trimmed(_ bytes: [UInt8]) -> String? {
    let text = bytes.drop { $0 <= 0x20 || $0 == 0x7F }
    guard let end = text.lastIndex(where: { $0 > 0x20 && $0 != 0x7F }) else { return nil }
    return String(decoding: text[...end], as: UTF8.self)
  }
}

extension ImageParts {
  /// A TIFF, and the raw formats that are TIFFs.
  mutating func readTIFF(_ bytes: ImageBytes) {
    guard let tiff = TIFF(bytes) else { return note(.structure) }
    let directories = ExifDirectories(tiff)
    exif = directories
    xmp = directories.main.content(0x02BC)
    iptc = directories.main.content(0x83BB)
    let isDamaged = tiff.isDamaged
    measure(directories, bytes)
    // The directories of other pictures have no EXIF.
    tiff.isDamaged = isDamaged
  }

  /// Measures the largest picture that is no preview: most raw files have the photo below the main directory, and a
  /// preview in that.
  private mutating func measure(_ exif: ExifDirectories, _ bytes: ImageBytes) {
    // Phase One has a picture of one pixel in the main directory, and its own numbers elsewhere.
    if bytes.has("IIII", at: 8) || bytes.has("MMMM", at: 8) { return }
    // CR2 has a preview there that is not marked as one; the photo's size is in its EXIF.
    if bytes.has("CR", at: 8) { return measure(exif.photo, width: 0xA002) }
    // Panasonic has the borders of the picture on the sensor.
    if bytes.starts(with: "IIU\0") {
      let borders = (4...7).map { exif.main.integer($0) }
      guard let top = borders[0], let left = borders[1], let bottom = borders[2], let right = borders[3]
      else { return }
      setSize(right - left, bottom - top)
      return
    }
    measure(exif.main, width: 0x100)
    for index in 0..<min(exif.main.count(0x14A), 8) {
      measure(exif.main.directory(0x14A, at: index), width: 0x100)
    }
  }

  /// - Parameter tag: that of the width, before the height's
  private mutating func measure(_ directory: TIFF.Directory?, width tag: UInt16) {
    guard let directory, (directory.integer(0xFE) ?? 0) & 1 == 0,
      let columns = directory.integer(tag), let rows = directory.integer(tag + 1)
    else { return }
    let known = Double(width ?? 0) * Double(height ?? 0)
    if Double(columns) * Double(rows) > known { setSize(columns, rows) }
  }

  /// Minolta's raw files: chunks, one of which is a TIFF, and one has the size.
  mutating func readMRW(_ bytes: ImageBytes) {
    var offset: Int64 = 8
    while let kind = bytes.uint32(offset, .big), let length = bytes.uint32(offset + 4, .big) {
      let content = bytes.part(offset + 8, atMost: length)
      switch kind {
      case 0x0050_5244 /* PRD */: setSize(content.uint16(14, .big), content.uint16(12, .big))
      case 0x0054_5457 /* TTW */: setExif(content)
      // The pixels follow the chunks.
      case 0x0057_4247, 0x0052_4946, 0x0050_4144 /* WBG, RIF, PAD */: break
      default: return
      }
      offset += 8 + length
    }
  }

  /// Fujifilm's raw files: a header with the offset of a JPEG, which has the EXIF.
  mutating func readRAF(_ bytes: ImageBytes) {
    guard let offset = bytes.uint32(84, .big) else { return note(.structure) }
    readJPEG(bytes.part(from: offset))
    // That of a preview.
    (width, height) = (nil, nil)
    faults.removeAll { $0 == .size }
  }
}
