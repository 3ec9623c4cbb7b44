/// A photo's row where it stands: numbers read, texts as places in the shard's bytes.
struct ShardRow {
  /// A text's bytes, without the quotes around it.
  struct Field {
    var start: Int
    var end: Int
    /// Whether a quote of the text is written as two.
    var hasDoubledQuotes = false

    static let none = Field(start: 0, end: 0)
  }

  var md5: MD5
  /// The row's bytes, without line end.
  var start: Int
  var end: Int
  /// Where it begins, counted from 1.
  var line: Int
  var filename: Field
  var size: Int64
  var photodate: Int64
  var modified: Int64
  var width: Int64?
  var height: Int64?
  var applePhotoID: Field
  /// Whether the bytes are exactly what the writer gives for this photo.
  var isCanonical: Bool

  /// The photo, its texts copied.
  ///
  /// - Parameter bytes: the ones that the reader was given
  func photo(in bytes: UnsafeRawBufferPointer) -> Photo {
    let identifier = ShardRow.text(applePhotoID, in: bytes)
    return Photo(
      md5: md5, filename: ShardRow.text(filename, in: bytes), size: size, photodate: photodate,
      modified: modified, width: width, height: height, applePhotoID: identifier.isEmpty ? nil : identifier)
  }

  static func text(_ field: Field, in bytes: UnsafeRawBufferPointer) -> String {
    let content = bytes[within: field.start..<field.end]
    guard field.hasDoubledQuotes else { return String(decoding: content, as: UTF8.self) }
    var single: [UInt8] = []
    single.reserveCapacity(content.count)
    var skip = false
    for byte in content {
      // Of each pair the first is kept.
      skip = byte == UInt8(ascii: "\"") && !skip
      if byte != UInt8(ascii: "\"") || skip { single.append(byte) }
    }
    return String(decoding: single, as: UTF8.self)
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes of a range; what lies outside is left off, never read.
  subscript(within range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range.clamped(to: 0..<count)])
  }
}
