/// Writes a shard: rows joined by "\n", without a final newline. The caller appends them in order.
struct ShardWriter {
  private(set) var bytes: [UInt8] = []
  private var isEmpty = true

  /// - Parameter capacity: the expected number of bytes
  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Appends a photo's row.
  mutating func append(_ photo: Photo) {
    beginLine()
    ShardWriter.write(photo, into: &bytes)
  }

  /// Appends a line unchanged: a canonical row, or a kept line.
  mutating func append(line: UnsafeRawBufferPointer) {
    beginLine()
    bytes.append(contentsOf: line)
  }

  /// Whether a field that contains this byte has to be quoted.
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

  /// Whether one line is before another: the order of their bytes, as of `LC_ALL=C sort`. It orders rows by
  /// md5, and places a kept line between the rows that its bytes lie between.
  static func precedes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.lexicographicallyPrecedes(right)
  }

  private mutating func beginLine() {
    if !isEmpty { bytes.append(UInt8(ascii: "\n")) }
    isEmpty = false
  }

  /// Appends a string, in quotes where it needs them.
  static func write(_ text: String, into bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0), into: &bytes) }
  }

  /// Appends a string, given as its UTF-8.
  static func write(_ text: UnsafeRawBufferPointer, into bytes: inout [UInt8]) {
    guard text.contains(where: { needsQuotes($0) }) else {
      bytes.append(contentsOf: text)
      return
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
