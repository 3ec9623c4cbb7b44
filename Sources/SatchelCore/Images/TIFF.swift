/// A TIFF: a header, and directories of typed values anywhere in it. EXIF is one.
package final class TIFF {
  let bytes: ImageBytes
  let order: ImageBytes.Order
  /// The width of offsets and counts: four bytes; eight in a BigTIFF.
  fileprivate let width: Int
  /// Where the first directory is.
  let start: UInt64?
  /// Whether a directory, or a value that was asked for, is not within the bytes.
  package var isDamaged = false

  package init?(_ bytes: ImageBytes) {
    guard let mark = bytes.number(0, size: 2, .big), mark == 0x4949 || mark == 0x4D4D else { return nil }
    self.bytes = bytes
    order = mark == 0x4949 ? .little : .big
    let version = bytes.uint16(2, order)
    switch version {
    // Olympus has the letters RO, RS and OR, Panasonic U.
    case 42, 0x4F52, 0x5352, 0x55: width = 4
    case 43: width = 8
    default: return nil
    }
    start = bytes.number(width == 4 ? 4 : 8, size: width, order)
  }

  /// Reads a directory.
  package func directory(at offset: UInt64?) -> Directory {
    guard let offset = offset.flatMap({ Int64(exactly: $0) }), offset >= 8,
      let count = bytes.number(offset, size: width == 4 ? 2 : 8, order)
    else {
      isDamaged = true
      return Directory(tiff: self)
    }
    let entrySize = width == 4 ? 12 : 20
    let start = offset + (width == 4 ? 2 : 8)
    // Directories of cameras have fewer than 200 entries.
    let known = Int(min(count, 4096))
    let available = Int(bytes.part(start, atMost: Int64(known * entrySize)).count) / entrySize
    if available < Int(clamping: count) { isDamaged = true }
    let table = ImageBytes(bytes.bytes(start, available * entrySize) ?? [])
    var directory = Directory(tiff: self)
    directory.entries.reserveCapacity(available)
    for index in 0..<Int64(available) {
      let entry = index * Int64(entrySize)
      guard let tag = table.number(entry, size: 2, order), let type = table.number(entry + 2, size: 2, order),
        let count = table.number(entry + 4, size: width, order)
      else { break }
      let size = UInt64(Self.unit(type)).multipliedReportingOverflow(by: count)
      let field = entry + 4 + Int64(width)
      let isInline = !size.overflow && size.partialValue <= UInt64(width)
      let offset = isInline ? UInt64(start + field) : table.number(field, size: width, order) ?? .max
      directory.entries.append(
        Entry(tag: UInt16(tag), type: type, count: count, offset: Int64(clamping: offset)))
    }
    return directory
  }

  /// The size of a value's unit; 0 for an unknown type.
  fileprivate static func unit(_ type: UInt64) -> Int {
    switch type {
    // Bytes and texts; 129 is UTF-8, since EXIF 3.
    case 1, 2, 6, 7, 129: 1
    case 3, 8: 2
    case 4, 9, 11, 13: 4
    case 5, 10, 12, 16, 17, 18: 8
    default: 0
    }
  }

  fileprivate struct Entry {
    var tag: UInt16
    var type: UInt64
    var count: UInt64
    /// Where the value is.
    var offset: Int64
  }

  /// A directory. Of a tag that is there several times the first counts.
  package struct Directory {
    fileprivate let tiff: TIFF
    fileprivate var entries: [Entry] = []

    package var isBigEndian: Bool { tiff.order == .big }

    private func entry(_ tag: UInt16) -> Entry? { entries.first { $0.tag == tag } }

    package func has(_ tag: UInt16) -> Bool { entry(tag) != nil }

    /// Returns the value's bytes; nil without the tag, or when the value is not within the TIFF.
    package func content(_ tag: UInt16) -> ImageBytes? { entry(tag).flatMap(content) }

    private func content(_ entry: Entry) -> ImageBytes? {
      let size = UInt64(TIFF.unit(entry.type)).multipliedReportingOverflow(by: entry.count)
      guard !size.overflow, let count = Int64(exactly: size.partialValue),
        let content = tiff.bytes.part(entry.offset, count)
      else {
        tiff.isDamaged = true
        return nil
      }
      return content
    }

    /// Returns a string up to its first NUL, in an unknown encoding; nil for values that are no text.
    package func text(_ tag: UInt16) -> [UInt8]? {
      // Some programs write texts in the formats UNDEFINED or BYTE.
      guard let entry = entry(tag), [1, 2, 7, 129].contains(entry.type), let content = content(entry) else {
        return nil
      }
      return Array(content.prefix(255).prefix { $0 != 0 })
    }

    /// Returns the number of values; 0 without the tag.
    package func count(_ tag: UInt16) -> UInt64 { entry(tag)?.count ?? 0 }

    /// Returns a number; nil without it, and for a value that is no number.
    ///
    /// - Parameter zero: the result for 0/0, which some programs write for an unknown value
    package func real(_ tag: UInt16, at index: UInt64 = 0, zero: Double? = nil) -> Double? {
      guard let entry = entry(tag), index < entry.count, let content = content(entry) else { return nil }
      let unit = TIFF.unit(entry.type)
      let offset = Int64(index) * Int64(unit)
      guard let raw = content.number(offset, size: unit, tiff.order) else { return nil }
      switch entry.type {
      case 1, 3, 4, 13, 16: return Double(raw)
      case 6: return Double(Int8(truncatingIfNeeded: raw))
      case 8: return Double(Int16(truncatingIfNeeded: raw))
      case 9: return Double(Int32(truncatingIfNeeded: raw))
      case 17: return Double(Int64(truncatingIfNeeded: raw))
      case 11: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: raw)))
      case 12: return Double(bitPattern: raw)
      case 5, 10:
        guard let top = content.number(offset, size: 4, tiff.order),
          let bottom = content.number(offset + 4, size: 4, tiff.order)
        else { return nil }
        func value(_ raw: UInt64) -> Double {
          entry.type == 5 ? Double(raw) : Double(Int32(truncatingIfNeeded: raw))
        }
        if bottom == 0 { return top == 0 ? zero : nil }
        return value(top) / value(bottom)
      default: return nil
      }
    }

    /// Returns a whole number; nil for fractions, and numbers out of range.
    package func integer(_ tag: UInt16, at index: UInt64 = 0) -> Int64? {
      real(tag, at: index).flatMap { Int64(exactly: $0) }
    }

    /// Returns the directory that a tag points to; nil without it.
    package func directory(_ tag: UInt16, at index: UInt64 = 0) -> Directory? {
      integer(tag, at: index).map { tiff.directory(at: UInt64(clamping: $0)) }
    }
  }
}

extension TIFF {
  /// The orientation of EXIF, 1 to 8, which some programs write into the photo's directory; nil without a valid one.
  package static func orientation(main: Directory, photo: Directory?) -> Int64? {
    let value = main.has(0x0112) ? main.integer(0x0112) : photo?.integer(0x0112)
    return value.flatMap { (1...8).contains($0) ? $0 : nil }
  }

  /// The orientation of EXIF; see `orientation(main:photo:)`.
  package var orientation: Int64? {
    let main = main()
    return Self.orientation(main: main, photo: main.directory(0x8769))
  }

  /// Reads the first directory.
  package func main() -> Directory { directory(at: start) }
}
