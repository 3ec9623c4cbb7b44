import SatchelCore

extension ImageParts {
  /// Reads the segments of a JPEG up to its pixels.
  mutating func readJPEG(_ bytes: ImageBytes) {
    var offset: Int64 = 2
    while let marker = Self.marker(bytes, from: &offset) {
      guard let length = bytes.uint16(offset, .big), length >= 2 else { break }
      let isCut = bytes.part(offset, length) == nil
      let payload = bytes.part(offset + 2, atMost: length - 2)
      switch marker {
      // The frame's header, of any of the ways to compress it.
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        if width == nil, !isCut { setSize(payload.uint16(3, .big), payload.uint16(1, .big)) }
      case 0xE1 where payload.starts(with: "Exif\0"):
        setExif(payload)
        if isCut { note(.exif) }
      case 0xE1 where payload.starts(with: "http://ns.adobe.com/xap/1.0/\0"):
        xmp = xmp ?? payload.part(from: 29)
      case 0xED where payload.starts(with: "Photoshop 3.0\0"):
        iptc = iptc ?? Self.iptc(in: payload.part(from: 14))
      default: break
      }
      offset += length
    }
    if width == nil { note(.size) }
  }

  /// Returns the next marker that has a segment, and moves to that; nil at the pixels and at the end.
  private static func marker(_ bytes: ImageBytes, from offset: inout Int64) -> UInt8? {
    // Bytes between the segments are passed over, as other readers do, up to a limit.
    let end = offset + 65_536
    while offset < end, let start = bytes.byte(offset), let marker = bytes.byte(offset + 1) {
      offset += 1
      // A fill byte is followed by the marker's own first byte.
      guard start == 0xFF, marker != 0xFF, marker != 0 else { continue }
      offset += 1
      switch marker {
      // Markers without a segment.
      case 0x01, 0xD0...0xD8: continue
      case 0xD9, 0xDA: return nil
      default: return marker
      }
    }
    return nil
  }

  /// Returns the record of IPTC in Photoshop's resources.
  private static func iptc(in resources: ImageBytes) -> ImageBytes? {
    var offset: Int64 = 0
    while resources.has("8BIM", at: offset), let number = resources.uint16(offset + 4, .big),
      let name = resources.byte(offset + 6)
    {
      // The name's length is in its first byte; both fill an even number.
      let size = offset + 6 + (Int64(name) + 2) / 2 * 2
      guard let count = resources.uint32(size, .big) else { return nil }
      if number == 0x0404 { return resources.part(size + 4, atMost: count) }
      offset = size + 4 + (count + 1) / 2 * 2
    }
    return nil
  }
}

extension ImageFacts {
  /// Reads when a photo was taken from a record of IPTC.
  mutating func readIPTC(_ record: ImageBytes) {
    var values: [UInt8: String] = [:]
    var offset: Int64 = 0
    while record.byte(offset) == 0x1C, let section = record.byte(offset + 1),
      let number = record.byte(offset + 2),
      let length = record.uint16(offset + 3, .big), length < 0x8000
    {
      // Of the second section: the day and time of creation, and of digitising.
      if section == 2, [55, 60, 62, 63].contains(number),
        let text = record.bytes(offset + 5, Int(min(length, 32)))
      {
        values[number] = values[number] ?? Self.trimmed(text)
      }
      offset += 5 + length
    }
    for (day, time) in [(UInt8(55), UInt8(60)), (62, 63)] {
      if let day = values[day] { found(.iptc, ImageDate(compactDay: day, time: values[time] ?? "")) }
    }
  }
}
