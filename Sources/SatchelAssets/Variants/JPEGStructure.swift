import CImages
import SatchelCore

/// The size, colours and metadata of a JPEG by its segments, read before the picture is decoded.
struct JPEGStructure {
  static let signature: [UInt8] = [0xFF, 0xD8, 0xFF]
  /// The maximum size of a colour profile that is kept, with the headers of its segments; that of a camera has 4 KB.
  private static let maxProfile = 64 << 10

  private(set) var width = 0
  private(set) var height = 0
  /// That of EXIF, 1 to 8.
  private(set) var orientation = 1
  /// The segments with the colour profile, as they are in the file; empty without one.
  private(set) var profile: [UInt8] = []
  private(set) var scanCount = 0
  /// How many samples of each component there are, across and down, where those of other components are one.
  private var components: [(across: Int, down: Int)] = []
  private var isAdobe = false
  /// Whether the decoder keeps all coefficients, because a scan has only a part of them.
  private var isBuffered = false

  /// - Parameter file: begins with the signature
  /// - Throws: `SatchelError` (`.invalid`) for a picture that has no size, or that is cut off
  init(_ file: UnsafeRawBufferPointer) throws {
    var (offset, hasEnd, hasExif) = (2, false, false)
    while let marker = Self.marker(in: file, from: &offset) {
      if marker == 0xD9 {
        hasEnd = true
        break
      }
      guard marker != 0x01, !(0xD0...0xD8).contains(marker) else { continue }
      guard let segment = Self.segment(in: file, at: offset) else { break }
      switch marker {
      // The frame's header, of any of the ways to compress it; the others are tables.
      case 0xC0...0xCF where marker & 3 != 0 || marker == 0xC0: readFrame(segment, marker)
      case 0xDA: readScan(segment)
      case 0xE1 where !hasExif && segment.starts(with: "Exif\0".utf8):
        hasExif = true
        orientation = PictureExif.orientation(segment)
      case 0xE2 where segment.starts(with: "ICC_PROFILE\0".utf8):
        profile += file[(offset - 2)..<(offset + 2 + segment.count)]
      case 0xEE: isAdobe = isAdobe || segment.starts(with: "Adobe".utf8)
      default: break
      }
      offset += 2 + segment.count
    }
    if profile.count > Self.maxProfile { profile = [] }
    guard width > 0, height > 0, [1, 3, 4].contains(components.count) else {
      throw SatchelError(
        .invalid, "the JPEG is damaged: it has no size, or another number of colours than 1, 3 or 4")
    }
    guard hasEnd, scanCount > 0 else { throw SatchelError(.invalid, "the JPEG is cut off") }
  }

  /// Whether it has inks, cyan, magenta, yellow and black, instead of colours of light.
  var hasInks: Bool { components.count == 4 }

  var kind: cimages_jpeg_kind {
    switch components.count {
    case 1: CIMAGES_JPEG_GRAY
    case 4: isAdobe ? CIMAGES_JPEG_INVERTED_CMYK : CIMAGES_JPEG_CMYK
    default: CIMAGES_JPEG_COLOR
    }
  }

  /// The memory that the decoder needs for coefficients, which it keeps of the whole picture or not at all.
  var coefficientBytes: Int {
    guard isBuffered else { return 0 }
    let (across, down) = (components.map(\.across).max() ?? 1, components.map(\.down).max() ?? 1)
    // In whole blocks, of up to 32 × 32 pixels.
    let pixels = ((width + 31) & ~31) * ((height + 31) & ~31)
    return components.reduce(0) { $0 + 2 * pixels * $1.across * $1.down / (across * down) }
  }

  private mutating func readFrame(_ segment: UnsafeRawBufferPointer, _ marker: UInt8) {
    guard components.isEmpty, segment.count >= 6 else { return }
    height = Int(segment[1]) << 8 | Int(segment[2])
    width = Int(segment[3]) << 8 | Int(segment[4])
    // Progressive ones.
    isBuffered = marker & 3 == 2
    for index in 0..<Int(segment[5]) where 7 + 3 * index < segment.count {
      let sampling = segment[7 + 3 * index]
      components.append((max(Int(sampling >> 4), 1), max(Int(sampling & 15), 1)))
    }
  }

  private mutating func readScan(_ segment: UnsafeRawBufferPointer) {
    scanCount += 1
    if let count = segment.first, Int(count) < components.count { isBuffered = true }
  }

  /// Returns the next marker, and moves after it; nil at the end of the file. Passes over the pixels.
  private static func marker(in file: UnsafeRawBufferPointer, from offset: inout Int) -> UInt8? {
    while offset < file.count, let base = file.baseAddress,
      let found = memchr(base + offset, 0xFF, file.count - offset)
    {
      offset = UnsafeRawPointer(found) - base + 1
      guard offset < file.count else { return nil }
      let marker = file[offset]
      // A byte of 255 among the pixels is followed by 0, and a fill byte by another 255.
      guard marker != 0, marker != 0xFF else { continue }
      offset += 1
      return marker
    }
    return nil
  }

  /// Returns the segment whose length is at an offset, without that.
  private static func segment(in file: UnsafeRawBufferPointer, at offset: Int) -> UnsafeRawBufferPointer? {
    guard offset + 2 <= file.count else { return nil }
    let length = Int(file[offset]) << 8 | Int(file[offset + 1])
    guard length >= 2, length <= file.count - offset else { return nil }
    return UnsafeRawBufferPointer(rebasing: file[(offset + 2)..<(offset + length)])
  }
}

/// The EXIF of a picture.
enum PictureExif {
  /// The maximum number of bytes that are read; a JPEG's segment has 64 KB.
  private static let maxSize = 1 << 20

  /// Returns the orientation, 1 to 8; 1 without a valid one.
  ///
  /// - Parameter content: a TIFF; before it may be the header of a JPEG's segment
  static func orientation(_ content: UnsafeRawBufferPointer) -> Int {
    let bytes = ImageBytes(Array(content.prefix(maxSize)))
    let tiff = bytes.starts(with: "Exif\0") ? bytes.part(from: 6) : bytes
    return TIFF(tiff)?.orientation.map { Int($0) } ?? 1
  }
}
