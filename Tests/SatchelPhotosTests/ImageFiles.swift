/// Writes small files of formats of images: boxes, chunks and segments.
enum ImageFiles {
  static func big(_ value: Int, _ size: Int = 4) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - $0))) }
  }

  static func little(_ value: Int, _ size: Int = 4) -> [UInt8] { big(value, size).reversed() }

  static func box(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    big(content.count + 8) + Array(kind.utf8) + content
  }

  /// A box with a version and flags.
  static func full(_ kind: String, version: Int = 0, flags: Int = 0, _ content: [UInt8]) -> [UInt8] {
    box(kind, [UInt8(version)] + big(flags, 3) + content)
  }

  static func ftyp(_ brand: String) -> [UInt8] {
    box("ftyp", Array(brand.utf8) + [0, 0, 0, 0] + Array(brand.utf8))
  }

  static func uuid(_ identity: String, _ content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = identity[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return box("uuid", bytes + content)
  }

  // MARK: HEIF

  /// A picture of 640 × 480, with properties that are applied in their order.
  struct HEIF {
    var properties: [[UInt8]] = []
    /// The extents of the EXIF's item, as parts of its content.
    var exifParts = 1
    var isInIdat = false
    var exif: [UInt8]?
    var xmp: [UInt8]?

    func file(brand: String = "heic") -> [UInt8] {
      // Twice: the length of the head does not depend on what the offsets are.
      let head = self.head(brand, start: 0).count
      return self.head(brand, start: head + 8) + box("mdat", isInIdat ? [0] : content)
    }

    private var exifItem: [UInt8] { exif.map { big(6) + Array("Exif\0\0".utf8) + $0 } ?? [] }
    private var content: [UInt8] { exifItem + (xmp ?? []) }

    private func head(_ brand: String, start: Int) -> [UInt8] {
      let base = isInIdat ? 0 : start
      var entries = infe(1, "hvc1")
      var places: [[UInt8]] = []
      func place(_ item: Int, _ offset: Int, _ count: Int, parts: Int) -> [UInt8] {
        let step = (count + parts - 1) / parts
        let extents = stride(from: 0, to: count, by: step).map { start in
          big(base + offset + start) + big(min(step, count - start))
        }
        let start: [UInt8] = big(item, 2) + big(isInIdat ? 1 : 0, 2) + big(0, 2)
        return start + big(extents.count, 2) + Array(extents.joined())
      }
      if exif != nil {
        entries += infe(2, "Exif")
        places.append(place(2, 0, exifItem.count, parts: exifParts))
      }
      if let xmp {
        entries += infe(3, "mime", Array("application/rdf+xml\0".utf8))
        places.append(place(3, exifItem.count, xmp.count, parts: 1))
      }
      let ispe = full("ispe", big(640) + big(480))
      let numbers = (1...properties.count + 1).map { UInt8($0) }
      var boxes = full("hdlr", big(0) + Array("pict".utf8) + big(0, 13))
      boxes += full("pitm", big(1, 2))
      boxes += full("iloc", version: 1, [0x44, 0x00] + big(places.count, 2) + Array(places.joined()))
      boxes += full("iinf", big(1 + places.count, 2) + entries)
      boxes += full("iref", box("cdsc", big(2, 2) + big(1, 2) + big(1, 2)))
      let associations: [UInt8] = big(1) + big(1, 2) + [UInt8(numbers.count)] + numbers
      boxes += box("iprp", box("ipco", ispe + Array(properties.joined())) + full("ipma", associations))
      if isInIdat { boxes += box("idat", content) }
      return ftyp(brand) + full("meta", boxes)
    }

    private func infe(_ item: Int, _ type: String, _ more: [UInt8] = []) -> [UInt8] {
      full("infe", version: 2, big(item, 2) + big(0, 2) + Array(type.utf8) + [0] + more)
    }
  }

  // MARK: Others

  static func cr3(_ main: ScanExif, _ photo: ScanExif, _ position: ScanExif) -> [UInt8] {
    var canon = box("CNCV", Array("CanonCR3_001".utf8))
    for (kind, exif) in [("CMT1", main), ("CMT2", photo), ("CMT4", position)] {
      canon += box(kind, exif.tiff)
    }
    return ftyp("crx ") + box("moov", uuid("85c0b687820f11e08111f4ce462b6a48", canon))
      + box("mdat", [1, 2, 3])
  }

  /// A codestream of JPEG XL, as far as it has the size: its bits, the lowest of each byte first.
  static func codestream(_ fields: [(value: Int, bits: Int)]) -> [UInt8] {
    let bits = fields.flatMap { field in (0..<field.bits).map { field.value >> $0 & 1 } }
    var bytes = [UInt8](repeating: 0, count: bits.count / 8 + 3)
    for (index, bit) in bits.enumerated() where bit == 1 { bytes[index / 8] |= 1 << UInt8(index % 8) }
    return [0xFF, 0x0A] + bytes
  }

  static func jxl(_ boxes: [[UInt8]]) -> [UInt8] {
    box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + ftyp("jxl ") + Array(boxes.joined())
  }

  static func png(_ chunks: [(kind: String, content: [UInt8])], width: Int = 640, height: Int = 480)
    -> [UInt8]
  {
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    func add(_ kind: String, _ content: [UInt8]) {
      file += big(content.count)
      file += kind.utf8
      file += content
      file += big(0)
    }
    add("IHDR", big(width) + big(height) + [8, 2, 0, 0, 0])
    for chunk in chunks { add(chunk.kind, chunk.content) }
    add("IDAT", [])
    add("IEND", [])
    return file
  }

  static func webp(_ chunks: [(kind: String, content: [UInt8])]) -> [UInt8] {
    var content = Array("WEBP".utf8)
    for chunk in chunks {
      content += Array(chunk.kind.utf8) + little(chunk.content.count) + chunk.content
      if chunk.content.count % 2 == 1 { content.append(0) }
    }
    return Array("RIFF".utf8) + little(content.count) + content
  }

  static func xmp(_ properties: String) -> [UInt8] {
    let text = """
      <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\(properties)</rdf:RDF></x:xmpmeta>
      <?xpacket end="w"?>
      """
    return Array(text.utf8)
  }

  static func datedXMP(_ date: String) -> [UInt8] {
    xmp("<rdf:Description xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:DateTimeOriginal='\(date)'/>")
  }

  static func iptc(_ fields: [(number: Int, text: String)]) -> [UInt8] {
    var record: [UInt8] = []
    for field in fields {
      record += [0x1C, 2, UInt8(field.number)] + big(field.text.utf8.count, 2)
      record += field.text.utf8
    }
    let padding = [UInt8](repeating: 0, count: record.count % 2)
    let other = Array("8BIM".utf8) + big(0x03ED, 2) + [3] + Array("abc".utf8) + big(1) + [7, 0]
    let resource = Array("8BIM".utf8) + big(0x0404, 2) + [0, 0] + big(record.count) + record + padding
    return ScanExif.segment(0xED, Array("Photoshop 3.0\0".utf8) + other + resource)
  }
}
