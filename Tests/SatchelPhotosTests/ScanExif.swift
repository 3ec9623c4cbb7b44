import Foundation

/// Writes EXIF, valid and damaged: a TIFF of a main directory, and directories for the photo and its position.
struct ScanExif {
  enum Value {
    /// Without a NUL at its end.
    case text(String)
    case bytes([UInt8])
    case short([UInt16])
    case long([UInt32])
    case rational([(UInt32, UInt32)])

    var type: UInt16 {
      switch self {
      case .text: 2
      case .bytes: 7
      case .short: 3
      case .long: 4
      case .rational: 5
      }
    }
  }

  struct Tag {
    var number: UInt16
    var value: Value
    /// The number of entries in the directory, if it is wrong.
    var claimedCount: UInt32?
    var claimedOffset: UInt32?
  }

  var isBigEndian = false
  var main: [Tag] = []
  var photo: [Tag] = []
  var position: [Tag] = []
  /// The offset of the next directory, as in the main directory.
  var next: UInt32 = 0

  mutating func add(_ number: UInt16, _ value: Value) {
    switch number {
    case 0...0x1F: position.append(Tag(number: number, value: value))
    case 0x8000...: photo.append(Tag(number: number, value: value))
    default: main.append(Tag(number: number, value: value))
    }
  }

  /// A camera's usual tags.
  static func usual(date: String = "2021:07:14 18:30:05") -> ScanExif {
    var exif = ScanExif()
    exif.add(0x010F, .text("Zenit\0"))
    exif.add(0x0110, .text("  Horizon 202 \0"))
    exif.add(0x0112, .short([6]))
    exif.add(0x829A, .rational([(1, 250)]))
    exif.add(0x829D, .rational([(28, 10)]))
    exif.add(0x8827, .short([400]))
    exif.add(0x9003, .text(date + "\0"))
    exif.add(0x920A, .rational([(28, 1)]))
    exif.add(1, .text("S\0"))
    exif.add(2, .rational([(33, 1), (51, 1), (3540, 100)]))
    exif.add(3, .text("E\0"))
    exif.add(4, .rational([(151, 1), (12, 1), (0, 1)]))
    return exif
  }

  // MARK: Writing

  private func number(_ value: UInt64, _ bytes: Int) -> [UInt8] {
    let little = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    return isBigEndian ? little.reversed() : little
  }

  private func content(_ value: Value) -> (bytes: [UInt8], count: Int) {
    switch value {
    case .text(let text): (Array(text.utf8), text.utf8.count)
    case .bytes(let bytes): (bytes, bytes.count)
    case .short(let values): (values.flatMap { number(UInt64($0), 2) }, values.count)
    case .long(let values): (values.flatMap { number(UInt64($0), 4) }, values.count)
    case .rational(let values):
      (values.flatMap { number(UInt64($0.0), 4) + number(UInt64($0.1), 4) }, values.count)
    }
  }

  private func directory(_ tags: [Tag], at start: Int, next: UInt32) -> [UInt8] {
    var entries = number(UInt64(tags.count), 2)
    var values: [UInt8] = []
    let valuesStart = start + 2 + 12 * tags.count + 4
    for tag in tags {
      let (bytes, count) = content(tag.value)
      entries += number(UInt64(tag.number), 2) + number(UInt64(tag.value.type), 2)
      entries += number(UInt64(tag.claimedCount ?? UInt32(count)), 4)
      if bytes.count <= 4, tag.claimedOffset == nil {
        entries += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
      } else {
        entries += number(UInt64(tag.claimedOffset ?? UInt32(valuesStart + values.count)), 4)
        values += bytes
      }
    }
    return entries + number(UInt64(next), 4) + values
  }

  /// The TIFF.
  var tiff: [UInt8] {
    var main = main
    // Twice: the length of the main directory does not depend on where the others are.
    for pass in 0..<2 {
      let start = 8 + (pass == 0 ? 0 : directory(main, at: 8, next: next).count)
      let photoLength = directory(photo, at: start, next: 0).count
      if pass == 0 {
        if !photo.isEmpty { main.append(Tag(number: 0x8769, value: .long([0]))) }
        if !position.isEmpty { main.append(Tag(number: 0x8825, value: .long([0]))) }
      } else {
        for index in main.indices where main[index].number == 0x8769 {
          main[index].value = .long([UInt32(start)])
        }
        for index in main.indices where main[index].number == 0x8825 {
          main[index].value = .long([UInt32(start + photoLength)])
        }
        let header = Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2) + number(8, 4)
        return header + directory(main, at: 8, next: next) + directory(photo, at: start, next: 0)
          + directory(position, at: start + photoLength, next: 0)
      }
    }
    return []
  }

  /// The segment of a JPEG.
  var segment: [UInt8] { Self.segment(0xE1, Array("Exif\0\0".utf8) + tiff) }

  static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let length = payload.count + 2
    return [0xFF, marker, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)] + payload
  }

  /// A little-endian TIFF whose directories and values lie further back.
  static func moved(_ tiff: [UInt8], by distance: Int) -> [UInt8] {
    var bytes = tiff
    func get(_ offset: Int, _ count: Int) -> Int {
      (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
    func move(_ offset: Int) {
      let value = get(offset, 4) + distance
      for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    }
    var directories = [get(4, 4)]
    while let start = directories.popLast() {
      for entry in stride(from: start + 2, to: start + 2 + 12 * get(start, 2), by: 12) {
        let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8]
        let tag = get(entry, 2)
        if tag == 0x8769 || tag == 0x8825 { directories.append(get(entry + 8, 4)) }
        let isPointer = tag == 0x8769 || tag == 0x8825
        if isPointer || sizes[get(entry + 2, 2)] * get(entry + 4, 4) > 4 { move(entry + 8) }
      }
    }
    move(4)
    return bytes.prefix(8) + [UInt8](repeating: 0, count: distance) + bytes.dropFirst(8)
  }
}
