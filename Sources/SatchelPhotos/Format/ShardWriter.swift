/// Writes a shard: rows joined by "\n", without a newline at the end. The caller gives them in order.
struct ShardWriter {
  private(set) var bytes: [UInt8] = []
  private var isEmpty = true

  /// - Parameter capacity: how many bytes are expected
  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Adds a photo's row.
  mutating func append(_ photo: Photo) {
    beginLine()
    ShardWriter.write(photo, into: &bytes)
  }

  /// Adds a line as it is: a row that is canonical, or one that was kept.
  mutating func append(line: UnsafeRawBufferPointer) {
    beginLine()
    bytes.append(contentsOf: line)
  }

  /// Whether a field with this byte is quoted.
  @inline(__always)
  static func needsQuotes(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
      || byte == UInt8(ascii: "\r")
  }

  /// Appends a photo's row, without line end.
  static func write(_ photo: Photo, into bytes: inout [UInt8]) {
    let comma = UInt8(ascii: ",")
    photo.md5.write(into: &bytes)
    bytes.append(comma)
    write(photo.filename, into: &bytes)
    bytes.append(comma)
    ShardNumber.write(photo.size, into: &bytes)
    bytes.append(comma)
    ShardNumber.write(photo.photodate, into: &bytes)
    bytes.append(comma)
    ShardNumber.write(photo.modified, into: &bytes)
    bytes.append(comma)
    if let width = photo.width { ShardNumber.write(width, into: &bytes) }
    bytes.append(comma)
    if let height = photo.height { ShardNumber.write(height, into: &bytes) }
    bytes.append(comma)
    write(photo.applePhotoID ?? "", into: &bytes)
  }

  /// Which of two lines stands first: the order of their bytes, as `LC_ALL=C sort` has it. Rows come in the order
  /// of their md5 by it, and a line that was kept comes between the rows that its bytes lie between.
  static func precedes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.lexicographicallyPrecedes(right)
  }

  private mutating func beginLine() {
    if !isEmpty { bytes.append(UInt8(ascii: "\n")) }
    isEmpty = false
  }

  private static func write(_ text: String, into bytes: inout [UInt8]) {
    guard text.utf8.contains(where: { needsQuotes($0) }) else {
      bytes.append(contentsOf: text.utf8)
      return
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
