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

  /// Whether a field has to be quoted.
  static func needsQuotes(_ text: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    while text.count - position >= 8,
      isPlain(text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    {
      position += 8
    }
    return text[position...].contains { needsQuotes($0) }
  }

  /// Whether eight bytes contain no byte below a minus sign, as few characters are. Quote, comma, line feed and carriage
  /// return all are. Subtracting the sign from such a byte sets its highest bit.
  @inline(__always)
  static func isPlain(_ word: UInt64) -> Bool {
    (word &- 0x2D2D_2D2D_2D2D_2D2D) & ~word & 0x8080_8080_8080_8080 == 0
  }

  /// Whether a field that contains this byte has to be quoted.
  @inline(__always)
  static func needsQuotes(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
      || byte == UInt8(ascii: "\r")
  }

  /// Appends a photo's row, without line end.
  static func write(_ photo: Photo, into bytes: inout [UInt8]) {
    var (filename, identifier) = (photo.filename, photo.applePhotoID ?? "")
    filename.withUTF8 { filename in
      identifier.withUTF8 { identifier in
        write(
          photo.md5, filename: UnsafeRawBufferPointer(filename), size: photo.size, photodate: photo.photodate,
          modified: photo.modified, width: photo.width, height: photo.height,
          applePhotoID: UnsafeRawBufferPointer(identifier), into: &bytes)
      }
    }
  }

  /// Appends a row, without line end. Every row of an export and of a sync comes from here: its bytes are put together
  /// in memory that has room for them, and then appended at once.
  static func write(
    _ md5: MD5, filename: UnsafeRawBufferPointer, size: Int64, photodate: Int64, modified: Int64,
    width: Int64?, height: Int64?, applePhotoID: UnsafeRawBufferPointer, into bytes: inout [UInt8]
  ) {
    // Quotes double at most every byte of a string.
    let room = 32 + 7 + 5 * ShardNumber.maxLength + 2 * (filename.count + 1) + 2 * (applePhotoID.count + 1)
    RowBytes.append(to: &bytes, room: room) { row in
      row.put(md5)
      row.putComma()
      row.put(filename)
      row.putComma()
      row.put(size)
      row.putComma()
      row.put(photodate)
      row.putComma()
      row.put(modified)
      row.putComma()
      if let width { row.put(width) }
      row.putComma()
      if let height { row.put(height) }
      row.putComma()
      row.put(applePhotoID)
    }
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
    RowBytes.append(to: &bytes, room: 2 * (text.count + 1)) { $0.put(text) }
  }
}

/// Writes fields into memory; the caller has reserved enough.
struct RowBytes {
  /// The address after the bytes written.
  private var end: UnsafeMutableRawPointer

  /// Appends what `write` writes, which has `room` bytes for it.
  @inline(__always)
  static func append(to bytes: inout [UInt8], room: Int, _ write: (inout RowBytes) -> Void) {
    withUnsafeTemporaryAllocation(byteCount: room, alignment: 8) { memory in
      guard let start = memory.baseAddress else { return }
      var row = RowBytes(end: start)
      write(&row)
      bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: start.distance(to: row.end)))
    }
  }

  @inline(__always)
  mutating func putComma() { put(byte: UInt8(ascii: ",")) }

  @inline(__always)
  private mutating func put(byte: UInt8) {
    end.storeBytes(of: byte, as: UInt8.self)
    end += 1
  }

  mutating func put(_ md5: MD5) {
    end.storeBytes(of: md5.digits, as: MD5.Digits.self)
    end += 32
  }

  /// Writes a number's digits.
  // Optimized for size, each division is an instruction of its own: a ninth of an export.
  @_optimize(speed)
  mutating func put(_ number: Int64) {
    if number < 0 { put(byte: UInt8(ascii: "-")) }
    let first = end
    var rest = number.magnitude
    repeat {
      put(byte: 0x30 &+ UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    var digits = UnsafeMutableRawBufferPointer(start: first, count: first.distance(to: end))
    digits.reverse()
  }

  /// Writes a string, in quotes where it needs them.
  mutating func put(_ text: UnsafeRawBufferPointer) {
    guard let start = text.baseAddress, !text.isEmpty else { return }
    guard ShardWriter.needsQuotes(text) else {
      end.copyMemory(from: start, byteCount: text.count)
      end += text.count
      return
    }
    put(byte: UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") { put(byte: byte) }
      put(byte: byte)
    }
    put(byte: UInt8(ascii: "\""))
  }
}
