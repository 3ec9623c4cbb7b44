import Satchel

/// The EXIF data of a photo, as the TIFF structure that a JPEG contains.
struct ExifBlock {
  /// Unix seconds.
  var taken: Int64
  var latitude: Double
  var longitude: Double

  var bytes: [UInt8] {
    let date = Self.date(taken)
    let camera: [Entry] = [
      .text(0x0110, "Demo camera"), .short(0x0112, 1), .text(0x0132, date),
    ]
    let details: [Entry] = [
      .text(0x9003, date), .text(0x9011, "+00:00"),
    ]
    let position: [Entry] = [
      .text(1, latitude < 0 ? "S" : "N"), .degrees(2, latitude.magnitude),
      .text(3, longitude < 0 ? "W" : "E"), .degrees(4, longitude.magnitude),
    ]
    // The directories of details and position are behind the first, which refers to them.
    let first: [Entry] = [.text(0x010F, "Satchel")] + camera + [.long(0x8769, 0), .long(0x8825, 0)]
    let start = 8 + Self.size(first)
    let entries = first.map { entry in
      switch entry.tag {
      case 0x8769: Entry.long(0x8769, start)
      case 0x8825: Entry.long(0x8825, start + Self.size(details))
      default: entry
      }
    }
    var bytes = Array("II".utf8) + little(42, 2) + little(8, 4)
    for directory in [entries, details, position] { Self.append(directory, to: &bytes) }
    return bytes
  }

  private struct Entry {
    var tag: Int
    var type: Int
    var count: Int
    var value: [UInt8]

    static func text(_ tag: Int, _ text: String) -> Entry {
      let bytes = Array(text.utf8) + [0]
      return Entry(tag: tag, type: 2, count: bytes.count, value: bytes)
    }

    static func short(_ tag: Int, _ number: Int) -> Entry {
      Entry(tag: tag, type: 3, count: 1, value: little(number, 2))
    }

    static func long(_ tag: Int, _ number: Int) -> Entry {
      Entry(tag: tag, type: 4, count: 1, value: little(number, 4))
    }

    /// Degrees, minutes and hundredths of seconds.
    static func degrees(_ tag: Int, _ degrees: Double) -> Entry {
      let hundredths = Int((degrees * 360_000).rounded())
      let parts = [(hundredths / 360_000, 1), (hundredths / 6000 % 60, 1), (hundredths % 6000, 100)]
      return Entry(tag: tag, type: 5, count: 3, value: parts.flatMap { little($0.0, 4) + little($0.1, 4) })
    }
  }

  /// The size of a directory with its values; those of more than four bytes are behind it.
  private static func size(_ directory: [Entry]) -> Int {
    2 + 12 * directory.count + 4 + directory.reduce(0) { $0 + padded($1.value).count }
  }

  private static func append(_ directory: [Entry], to bytes: inout [UInt8]) {
    var next = bytes.count + 2 + 12 * directory.count + 4
    var values: [UInt8] = []
    bytes += little(directory.count, 2)
    for entry in directory {
      bytes += little(entry.tag, 2) + little(entry.type, 2) + little(entry.count, 4)
      let value = padded(entry.value)
      bytes +=
        value.isEmpty ? entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count) : little(next, 4)
      values += value
      next += value.count
    }
    bytes += little(0, 4) + values
  }

  /// The bytes of a value that is behind its directory, of an even number; empty for one that is inside.
  private static func padded(_ value: [UInt8]) -> [UInt8] {
    value.count <= 4 ? [] : value + [UInt8](repeating: 0, count: value.count % 2)
  }

  /// "2026:06:12 18:40:00", in UTC.
  private static func date(_ seconds: Int64) -> String {
    let text = Terminal.time(seconds: seconds).split(separator: "-").joined(separator: ":")
    return "\(text):00"
  }
}

/// The bytes of a number, the least significant first.
private func little(_ number: Int, _ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}
