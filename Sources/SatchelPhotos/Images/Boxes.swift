import SatchelCore

/// A box of an ISO media file: HEIC, AVIF, CR3, JPEG XL, JPEG 2000, films.
struct ImageBox {
  /// The four letters.
  var kind: UInt32
  /// Cut where the file ends.
  var content: ImageBytes
  /// Whether the box is longer than what it is in.
  var isCut: Bool

  /// The content after version and flags.
  var afterVersion: ImageBytes { content.part(from: 4) }
  var version: UInt8 { content.byte(0) ?? 0 }

  static func kind(_ name: StaticString) -> UInt32 {
    guard name.utf8CodeUnitCount == 4 else { return 0 }
    return (0..<4).reduce(0) { $0 << 8 | UInt32(name.utf8Start[$1]) }
  }

  /// Whether the box has the identity, and is of a kind of its own.
  func isOwn(_ identity: [UInt8]) -> Bool {
    kind == Self.kind("uuid") && content.bytes(0, 16) == identity
  }
}

/// The boxes in a part of a file, one after the other.
struct ImageBoxes: Sequence, IteratorProtocol {
  private let bytes: ImageBytes
  private var offset: Int64 = 0

  init(_ bytes: ImageBytes) { self.bytes = bytes }

  mutating func next() -> ImageBox? {
    guard let short = bytes.uint32(offset, .big), let kind = bytes.number(offset + 4, size: 4, .big) else {
      return nil
    }
    var (size, header): (Int64, Int64) = (short, 8)
    if short == 0 { size = bytes.count - offset }
    if short == 1 {
      guard let long = bytes.number(offset + 8, size: 8, .big), let exact = Int64(exactly: long) else {
        return nil
      }
      (size, header) = (exact, 16)
    }
    guard size >= header else { return nil }
    let content = bytes.part(offset + header, atMost: size - header)
    let isCut = content.count < size - header
    offset = isCut ? bytes.count : offset + size
    return ImageBox(kind: UInt32(kind), content: content, isCut: isCut)
  }
}

extension ImageBytes {
  var boxes: ImageBoxes { ImageBoxes(self) }

  /// Returns the first box of a kind.
  func box(_ name: StaticString) -> ImageBox? {
    let kind = ImageBox.kind(name)
    return boxes.first { $0.kind == kind }
  }

  /// Returns the first box of a kind of its own.
  func box(own identity: [UInt8]) -> ImageBytes? {
    boxes.first { $0.isOwn(identity) }?.content.part(from: 16)
  }
}

extension ImageParts {
  private static let xmpIdentity: [UInt8] = [
    0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
  ]

  /// Canon's raw files: the directories of EXIF are TIFFs of their own in a box of its own.
  mutating func readCR3(_ bytes: ImageBytes) {
    let identity: [UInt8] = [
      0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    guard let canon = bytes.box("moov")?.content.box(own: identity) else { return note(.structure) }
    xmp = bytes.box(own: Self.xmpIdentity)
    guard let main = canon.box("CMT1").flatMap({ TIFF($0.content) }) else { return note(.exif) }
    var directories = ExifDirectories(main)
    for (name, path) in [
      ("CMT2" as StaticString, \ExifDirectories.photo), ("CMT4", \ExifDirectories.position),
    ] {
      guard let tiff = canon.box(name).flatMap({ TIFF($0.content) }) else { continue }
      directories[keyPath: path] = tiff.main()
      directories.tiffs.append(tiff)
    }
    exif = directories
    setSize(directories.main.integer(0x100), directories.main.integer(0x101))
  }

  mutating func readJP2(_ bytes: ImageBytes) {
    // A codestream without boxes, as in a box: its first segment has the size.
    if bytes.number(0, size: 2, .big) == 0xFF4F {
      let numbers = [Int64(8), 12, 16, 20].map { bytes.uint32($0, .big) ?? 0 }
      if !setSize(numbers[0] - numbers[2], numbers[1] - numbers[3]) { note(.size) }
      return
    }
    let header = bytes.box("jp2h")?.content.box("ihdr")?.content
    if !setSize(header?.uint32(4, .big), header?.uint32(0, .big)) { note(.size) }
    xmp = bytes.box(own: Self.xmpIdentity)
    if let exif = bytes.box(own: Array("JpgTiffExif->JP2".utf8)) { setExif(exif) }
  }

  mutating func readJXL(_ bytes: ImageBytes) {
    guard bytes.number(0, size: 2, .big) != 0xFF0A else { return readCodestream(bytes) }
    var isMeasured = false
    for box in bytes.boxes {
      switch box.kind {
      case ImageBox.kind("jxlc") where !isMeasured, ImageBox.kind("jxlp") where !isMeasured:
        // A part of a codestream follows its number.
        readCodestream(box.kind == ImageBox.kind("jxlc") ? box.content : box.afterVersion)
        isMeasured = true
      case ImageBox.kind("Exif"): readExifItem(box.content)
      case ImageBox.kind("xml "): xmp = xmp ?? box.content
      case ImageBox.kind("brob") where box.content.starts(with: "Exif"): note(.compressed)
      default: break
      }
    }
    if !isMeasured { note(.size) }
  }

  /// Reads EXIF that follows the offset of its TIFF, as HEIF and JPEG XL have it.
  mutating func readExifItem(_ bytes: ImageBytes) {
    guard let offset = bytes.uint32(0, .big) else { return note(.exif) }
    let rest = bytes.part(from: 4)
    setExif(rest.part(from: offset < rest.count ? offset : 0))
  }

  /// Reads the size at the start of a codestream of JPEG XL.
  private mutating func readCodestream(_ bytes: ImageBytes) {
    var bits = JXLBits(bytes.prefix(32))
    guard bits.read(16) == 0x0AFF else { return note(.size) }
    let isSmall = bits.read(1) == 1
    func side(_ bits: inout JXLBits) -> Int64 {
      if isSmall { return (Int64(bits.read(5)) + 1) * 8 }
      let width = [9, 13, 18, 30][Int(bits.read(2))]
      return Int64(bits.read(width)) + 1
    }
    let rows = side(&bits)
    let ratios: [(Int64, Int64)] = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
    let ratio = Int(bits.read(3))
    let columns = ratio == 0 ? side(&bits) : rows * ratios[ratio - 1].0 / ratios[ratio - 1].1
    // Neither all the defaults, nor without what follows: the orientation, which decoders apply.
    let turns = bits.read(1) == 0 && bits.read(1) == 1 && bits.read(3) >= 4
    guard !bits.isEnded, setSize(turns ? rows : columns, turns ? columns : rows) else { return note(.size) }
  }
}

/// The bits of a codestream of JPEG XL, the lowest of each byte first.
private struct JXLBits {
  private let bytes: [UInt8]
  private var position = 0
  /// Whether more was read than there is; what is missing counts as 0.
  private(set) var isEnded = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func read(_ count: Int) -> UInt32 {
    var value: UInt32 = 0
    for bit in 0..<count {
      guard position / 8 < bytes.count else {
        isEnded = true
        return value
      }
      value |= UInt32(bytes[position / 8] >> UInt8(position % 8) & 1) << UInt32(bit)
      position += 1
    }
    return value
  }
}
