import SatchelCore

/// A value of a row in the file format (SQLite file format, 2.1).
enum StoredValue: Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])

  /// Parses a record; nil unless all its bytes are accounted for.
  static func record(_ bytes: [UInt8]) -> [StoredValue]? {
    guard let (headSize, first) = bytes.varint(at: 0), headSize >= Int64(first),
      headSize <= Int64(bytes.count)
    else { return nil }
    var offset = first
    var content = Int(headSize)
    var values: [StoredValue] = []
    while offset < Int(headSize) {
      guard let (kind, length) = bytes.varint(at: offset), offset + length <= Int(headSize) else {
        return nil
      }
      offset += length
      guard let (value, size) = value(of: kind, bytes, at: content) else { return nil }
      values.append(value)
      content += size
    }
    return content == bytes.count ? values : nil
  }

  private static func value(of kind: Int64, _ bytes: [UInt8], at start: Int) -> (StoredValue, Int)? {
    switch kind {
    case 0: return (.null, 0)
    case 8, 9: return (.integer(kind - 8), 0)
    case 1...7:
      let size = [1, 2, 3, 4, 6, 8, 8][Int(kind) - 1]
      guard start + size <= bytes.count else { return nil }
      let bits = UInt64(truncatingIfNeeded: bytes.number(size, at: start))
      if kind == 7 { return (.real(Double(bitPattern: bits)), size) }
      let shift = 64 - size * 8
      return (.integer(Int64(bitPattern: bits << shift) >> shift), size)
    case 12...:
      let size = (kind - 12) / 2
      guard size <= Int64(bytes.count - start) else { return nil }
      let content = Array(bytes[start..<start + Int(size)])
      guard kind % 2 == 1 else { return (.blob(content), content.count) }
      // Satchel writes UTF-8 only: any other bytes are damaged.
      guard String(validating: content, as: UTF8.self) != nil else { return nil }
      return (.text(content), content.count)
    default: return nil
    }
  }
}
