import SatchelCore

/// The size and orientation of a PNG by its chunks, read before the picture is decoded.
struct PNGStructure {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private(set) var width = 0
  private(set) var height = 0
  /// How many bytes each pixel takes when it is read.
  private(set) var channels = 4
  /// That of EXIF, 1 to 8.
  private(set) var orientation = 1

  /// - Parameter file: begins with the signature
  /// - Throws: `SatchelError` (`.invalid`) for a picture that has no size, or that is cut off
  init(_ file: UnsafeRawBufferPointer) throws {
    func number(_ offset: Int) -> Int { file[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
    var (offset, hasEnd, hasPixels) = (8, false, false)
    while file.count - offset >= 12, !hasEnd {
      let length = number(offset)
      guard length <= file.count - offset - 12 else { break }
      let content = UnsafeRawBufferPointer(rebasing: file[(offset + 8)..<(offset + 8 + length)])
      switch number(offset + 4) {
      case 0x4948_4452 /* IHDR */ where width == 0 && length >= 13:
        (width, height) = (number(offset + 8), number(offset + 12))
        // Grey; another chunk can make one of its shades transparent.
        if content[9] & 2 == 0 { channels = 2 }
      case 0x4944_4154 /* IDAT */: hasPixels = true
      case 0x6558_4966 /* eXIf */: orientation = PictureExif.orientation(content)
      case 0x4945_4E44 /* IEND */: hasEnd = true
      default: break
      }
      offset += 12 + length
    }
    guard width > 0, height > 0 else { throw SatchelError(.invalid, "the PNG is damaged: it has no size") }
    guard hasEnd, hasPixels else { throw SatchelError(.invalid, "the PNG is cut off") }
  }
}
