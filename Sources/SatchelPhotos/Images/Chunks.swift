import SatchelCore

extension ImageParts {
  /// Reads the chunks of a PNG.
  mutating func readPNG(_ bytes: ImageBytes) {
    var offset: Int64 = 8
    while let length = bytes.uint32(offset, .big), let kind = bytes.uint32(offset + 4, .big) {
      guard let content = bytes.part(offset + 8, length), bytes.part(offset + 8, length + 4) != nil else {
        note(.structure)
        break
      }
      switch kind {
      case 0x4948_4452 /* IHDR */:
        if width == nil { setSize(content.uint32(0, .big), content.uint32(4, .big)) }
      case 0x6558_4966 /* eXIf */: setExif(content)
      case 0x7445_5874, 0x7A54_5874 /* tEXt, zTXt */:
        // As ImageMagick wrote it before there was a chunk for it.
        if content.starts(with: "Raw profile type exif\0") || content.starts(with: "Raw profile type APP1\0")
        {
          note(.compressed)
        }
      case 0x6954_5874 /* iTXt */: xmp = xmp ?? Self.xmp(inText: content)
      default: break
      }
      if kind == 0x4945_4E44 /* IEND */ { break }
      offset += 12 + length
    }
    if width == nil { note(.size) }
  }

  /// Returns the XMP of a chunk of text: keyword, whether it is compressed, two empty strings, and the text.
  private static func xmp(inText content: ImageBytes) -> ImageBytes? {
    content.starts(with: "XML:com.adobe.xmp\0\0\0\0\0") ? content.part(from: 22) : nil
  }

  /// Reads the chunks of a WebP.
  mutating func readWebP(_ bytes: ImageBytes) {
    let size = (bytes.uint32(4, .little) ?? 0) + 8
    let isWhole = size <= bytes.count
    let bytes = bytes.part(0, atMost: size)
    var offset: Int64 = 12
    while let kind = bytes.uint32(offset, .big), let length = bytes.uint32(offset + 4, .little) {
      let content = bytes.part(offset + 8, atMost: length)
      switch kind {
      case 0x5650_3858 /* VP8X */:
        guard let columns = content.number(4, size: 3, .little),
          let rows = content.number(7, size: 3, .little)
        else {
          break
        }
        setSize(Int64(columns) + 1, Int64(rows) + 1)
      case 0x5650_3820 /* VP8 */ where width == nil && content.number(3, size: 3, .big) == 0x9D_012A:
        setSize(
          content.uint16(6, .little).map { $0 & 0x3FFF }, content.uint16(8, .little).map { $0 & 0x3FFF })
      case 0x5650_384C /* VP8L */ where width == nil && content.byte(0) == 0x2F:
        guard let numbers = content.uint32(1, .little) else { break }
        setSize((numbers & 0x3FFF) + 1, (numbers >> 14 & 0x3FFF) + 1)
      case 0x4558_4946 /* EXIF */:
        setExif(content)
        if content.count < length { note(.exif) }
      case 0x584D_5020 /* XMP */: xmp = xmp ?? content
      default: break
      }
      offset += 8 + length + length % 2
    }
    if width == nil || !isWhole { note(.structure) }
  }

  mutating func readGIF(_ bytes: ImageBytes) {
    if !setSize(bytes.uint16(6, .little), bytes.uint16(8, .little)) { note(.size) }
  }

  mutating func readBMP(_ bytes: ImageBytes) {
    func signed(_ offset: Int64) -> Int64? {
      bytes.uint32(offset, .little).map { Int64(Int32(truncatingIfNeeded: $0)) }
    }
    // The oldest header has numbers of two bytes.
    let isOld = bytes.uint32(14, .little) == 12
    let columns = isOld ? bytes.uint16(18, .little) : signed(18)
    // A negative height means that the rows are from top to bottom.
    let rows = isOld ? bytes.uint16(20, .little) : signed(22).map { abs($0) }
    if !setSize(columns, rows) { note(.size) }
  }
}
