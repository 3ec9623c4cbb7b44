import SatchelCore

extension ImageParts {
  /// Reads the items of a HEIC or AVIF file: the primary one's size, and the EXIF and XMP that describe it.
  mutating func readHEIF(_ bytes: ImageBytes) {
    guard let meta = bytes.box("meta"), let items = HEIFItems(meta.afterVersion, file: bytes) else {
      return readSequence(bytes)
    }
    let size = items.size()
    if !setSize(size?.width, size?.height) { note(.structure) }
    if let item = items.describing(.exif) {
      if let content = items.content(item) { readExifItem(content) } else { note(.exif) }
    }
    if let item = items.describing(.xmp) { xmp = items.content(item) }
  }

  /// Reads the size of a sequence of pictures that has no picture of its own: that of its first track.
  private mutating func readSequence(_ bytes: ImageBytes) {
    guard let track = bytes.box("moov")?.content.box("trak")?.content.box("tkhd") else {
      return note(.structure)
    }
    // Numbers with sixteen bits of a fraction, at the end of the box.
    let end = track.content.count
    let sides = [end - 8, end - 4].map { track.content.uint32($0, .big).map { $0 >> 16 } }
    if !setSize(sides[0], sides[1]) { note(.size) }
  }
}

/// The items of a HEIF file: pictures, and what describes them.
private struct HEIFItems {
  enum Kind { case exif, xmp }

  private let meta: ImageBytes
  private let file: ImageBytes
  private let primary: Int64

  /// - Returns: nil without a primary item
  init?(_ meta: ImageBytes, file: ImageBytes) {
    guard let box = meta.box("pitm"),
      let primary = box.version == 0 ? box.content.uint16(4, .big) : box.content.uint32(4, .big)
    else { return nil }
    (self.meta, self.file, self.primary) = (meta, file, primary)
  }

  // MARK: The size

  /// Returns the primary picture's size after all that its properties ask for, in their order.
  func size() -> (width: Int64, height: Int64)? {
    guard let properties = meta.box("iprp")?.content, let store = properties.box("ipco")?.content else {
      return nil
    }
    let wanted = self.properties(in: properties)
    var boxes: [Int64: ImageBox] = [:]
    for (index, box) in store.boxes.prefix(4096).enumerated() where wanted.contains(Int64(index) + 1) {
      boxes[Int64(index) + 1] = box
    }
    var size: (width: Int64, height: Int64)?
    for box in wanted.compactMap({ boxes[$0] }) {
      switch box.kind {
      case ImageBox.kind("ispe"):
        guard let width = box.content.uint32(4, .big), let height = box.content.uint32(8, .big) else { break }
        size = size ?? (width, height)
      case ImageBox.kind("clap"):
        guard let known = size, let width = fraction(box.content, 0), let height = fraction(box.content, 8)
        else { break }
        if width <= known.width, height <= known.height { size = (width, height) }
      case ImageBox.kind("irot"):
        guard let known = size, let angle = box.content.byte(0), angle & 1 == 1 else { break }
        size = (known.height, known.width)
      default: break
      }
    }
    return size
  }

  private func fraction(_ bytes: ImageBytes, _ offset: Int64) -> Int64? {
    guard let top = bytes.uint32(offset, .big), let bottom = bytes.uint32(offset + 4, .big), bottom > 0,
      top >= bottom
    else { return nil }
    return Int64((Double(top) / Double(bottom)).rounded())
  }

  /// Returns the numbers of the primary item's properties.
  private func properties(in properties: ImageBytes) -> [Int64] {
    for box in properties.boxes where box.kind == ImageBox.kind("ipma") {
      var table = HEIFTable(box.content)
      let (version, flags) = (table.number(1), table.number(3))
      for _ in 0..<table.count(4) {
        let item = table.number(version == 0 ? 2 : 4)
        let count = table.number(1)
        let isLong = flags & 1 == 1
        let numbers = (0..<count).map { _ in table.number(isLong ? 2 : 1) & (isLong ? 0x7FFF : 0x7F) }
        if item == primary, !table.isEnded { return numbers }
      }
    }
    return []
  }

  // MARK: Metadata

  /// Returns the first item of a kind that describes the primary picture, else the first one of that kind.
  func describing(_ kind: Kind) -> Int64? {
    guard let list = meta.box("iinf") else { return nil }
    var items: [Int64] = []
    let entries = list.content.part(from: list.version == 0 ? 6 : 8)
    for box in entries.boxes where box.kind == ImageBox.kind("infe") && items.count < 64 {
      let width: Int64 = box.version == 2 ? 2 : 4
      guard box.version >= 2, let item = box.content.number(4, size: Int(width), .big).map({ Int64($0) })
      else {
        continue
      }
      // After the number a protection's; after the type a name, and of a text the type of its content.
      let type = 6 + width
      switch kind {
      case .exif: if box.content.has("Exif", at: type) { items.append(item) }
      case .xmp:
        guard box.content.has("mime", at: type) else { continue }
        let text = box.content.part(from: type + 4).prefix(512)
        let content = text.drop { $0 != 0 }.dropFirst().prefix { $0 != 0 }
        if content.elementsEqual("application/rdf+xml".utf8) { items.append(item) }
      }
    }
    return items.first { describesPrimary($0) } ?? items.first
  }

  private func describesPrimary(_ item: Int64) -> Bool {
    guard let references = meta.box("iref") else { return false }
    let width = references.version == 0 ? 2 : 4
    for box in references.afterVersion.boxes where box.kind == ImageBox.kind("cdsc") {
      var table = HEIFTable(box.content)
      guard table.number(width) == item else { continue }
      for _ in 0..<table.count(2) {
        if table.number(width) == primary, !table.isEnded { return true }
      }
    }
    return false
  }

  /// Returns an item's bytes; nil when they are not in this file, or are too many for metadata.
  func content(_ item: Int64) -> ImageBytes? {
    guard let place = place(of: item), !place.extents.isEmpty else { return nil }
    let base = place.isInMeta ? meta.box("idat")?.content : file
    guard let base else { return nil }
    let parts = place.extents.compactMap { extent in
      // A length of 0 means all the rest.
      extent.count == 0 ? base.part(from: extent.offset) : base.part(extent.offset, extent.count)
    }
    guard parts.count == place.extents.count else { return nil }
    if parts.count == 1 { return parts[0] }
    // Cameras write some 10 KB, with maker notes and thumbnails.
    guard parts.reduce(0, { $0 + min($1.count, 1 << 32) }) <= 4 << 20 else { return nil }
    return ImageBytes(parts.flatMap { $0.prefix(4 << 20) })
  }

  private struct Place {
    var isInMeta: Bool
    var extents: [(offset: Int64, count: Int64)] = []
  }

  private func place(of wanted: Int64) -> Place? {
    guard let box = meta.box("iloc") else { return nil }
    var table = HEIFTable(box.content)
    let version = table.number(1)
    _ = table.number(3)
    let (first, second) = (table.number(1), table.number(1))
    let widths = (offset: first >> 4, length: first & 15, base: second >> 4, index: second & 15)
    let index = version == 0 ? 0 : widths.index
    for _ in 0..<table.count(version < 2 ? 2 : 4) {
      let item = table.number(version < 2 ? 2 : 4)
      let method = version == 0 ? 0 : table.number(2) & 15
      _ = table.number(2)
      let base = table.number(Int(widths.base))
      let count = table.number(2)
      guard item == wanted else {
        table.skip(count * (index + widths.offset + widths.length))
        continue
      }
      // 2 is that it is a part of another item.
      guard method < 2, count <= 256 else { return nil }
      var place = Place(isInMeta: method == 1)
      for _ in 0..<count {
        table.skip(index)
        let (offset, overflow) = table.number(Int(widths.offset)).addingReportingOverflow(base)
        let length = table.number(Int(widths.length))
        guard !overflow, !table.isEnded else { return nil }
        place.extents.append((offset, length))
      }
      return place
    }
    return nil
  }
}

/// A table of numbers of various widths, read from its start; after its end they are 0.
private struct HEIFTable {
  private let bytes: [UInt8]
  private var position = 0
  private(set) var isEnded = false

  /// A table of more than a MiB is read as if it ended there.
  init(_ bytes: ImageBytes) { self.bytes = bytes.prefix(1 << 20) }

  /// Returns a number; 0 for one that is out of range.
  mutating func number(_ width: Int) -> Int64 {
    guard width <= bytes.count - position else {
      isEnded = true
      return 0
    }
    let value = bytes[position..<position + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    position += width
    return Int64(exactly: value) ?? 0
  }

  /// Returns the number of the entries that follow: no more than there are bytes for, however small they are.
  mutating func count(_ width: Int) -> Int64 { min(number(width), Int64(bytes.count - position)) }

  mutating func skip(_ count: Int64) {
    guard let count = Int(exactly: count), count <= bytes.count - position else {
      isEnded = true
      return
    }
    position += max(count, 0)
  }
}
