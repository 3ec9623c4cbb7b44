import SatchelJSON
import SatchelStorage

/// The name of a story or a file, as SQLite and file systems tell names apart: by bytes.
struct StoryName: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: StoryName, right: StoryName) -> Bool { left.text.hasSameBytes(as: right.text) }

  func hash(into hasher: inout Hasher) {
    let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if hashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }

  /// Whether one text comes before another, by bytes.
  static func precedes(_ left: String, _ right: String) -> Bool {
    let order = left.utf8.withContiguousStorageIfAvailable { one in
      right.utf8.withContiguousStorageIfAvailable { other in
        compare(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(other))
      }
    }
    if let order = order ?? nil { return order < 0 }
    return left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    if let one = left.baseAddress, let other = right.baseAddress {
      let order = memcmp(one, other, min(left.count, right.count))
      if order != 0 { return Int(order) }
    }
    return left.count - right.count
  }
}
