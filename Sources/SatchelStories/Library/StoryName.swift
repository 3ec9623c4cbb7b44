import SatchelCore
import SatchelJSON
import SatchelStorage

/// The name of a story or a file, compared by bytes as in SQLite and file systems.
package struct StoryName: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  package static func == (left: StoryName, right: StoryName) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  package func hash(into hasher: inout Hasher) {
    let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if hashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }

  /// Whether one string precedes another in byte order.
  package static func precedes(_ left: String, _ right: String) -> Bool {
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

/// Validates the ids of stories. An id is a name, never a path.
package enum StoryID {
  /// Whether an id is valid: not empty, at most 200 bytes, without path separators, control characters and a
  /// leading dot.
  package static func isName(_ id: String) -> Bool {
    guard !id.isEmpty, id.utf8.count <= 200, id.utf8.first != UInt8(ascii: ".") else { return false }
    return id.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "/" && $0 != "\\" }
  }
}
