import SatchelCore
import SatchelStorage

/// The rules for record ids and collection names.
enum RecordID {
  /// The maximum number of bytes of an id.
  static let maxLength = 255

  /// - Throws: `.invalid` for an invalid id
  static func check(_ id: UnsafeRawBufferPointer, in collection: String) throws {
    guard (1...maxLength).contains(id.count) else {
      throw SatchelError(.invalid, "\(collection): an id has 1 to \(maxLength) bytes, not \(id.count)")
        .at(.collection(collection)).at(limit: maxLength)
    }
    // All of C0 and DEL; C1 begins with 0xC2 in UTF-8.
    var isASCII = true
    for byte in id {
      guard byte >= 0x20, byte != 0x7F else {
        throw SatchelError(.invalid, "\(collection): an id has no control characters")
          .at(.collection(collection))
      }
      if byte >= 0x80 { isASCII = false }
    }
    if isASCII { return }
    guard let text = String(validating: id, as: UTF8.self) else {
      throw SatchelError(.invalid, "\(collection): an id is UTF-8")
        .at(.collection(collection))
    }
    guard !text.unicodeScalars.contains(where: { (0x80...0x9F).contains($0.value) }) else {
      throw SatchelError(.invalid, "\(collection): an id has no control characters")
        .at(.collection(collection))
    }
  }

  /// - Throws: `.invalid` for an invalid collection name
  static func checkCollection(_ name: String) throws {
    let bytes = Array(name.utf8)
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let isName =
      (1...64).contains(bytes.count) && letters.contains(bytes[0])
      && bytes.allSatisfy {
        letters.contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || $0 == UInt8(ascii: "_")
      }
    guard isName else {
      throw SatchelError(
        .invalid, "\"\(name)\" is not a collection name: use a to z, 0 to 9 and _, at most 64, a letter first"
      )
    }
  }
}
