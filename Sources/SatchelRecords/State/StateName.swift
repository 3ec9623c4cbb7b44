import SatchelJSON
import SatchelStorage

/// A name or key of state: 1 to 255 bytes of UTF-8, told apart and sorted by its bytes.
///
/// Swift's own comparison takes two spellings of "é" for one, and one would be lost.
struct StateName: Hashable, Comparable, Sendable {
  let text: String

  /// - Parameter role: for the message, such as "key"
  /// - Throws: `.invalid`
  init(_ text: String, as role: String) throws {
    guard (1...255).contains(text.utf8.count) else {
      throw SatchelError(.invalid, "\(role): has \(text.utf8.count) bytes, and must have 1 to 255")
    }
    guard !text.utf8.contains(0) else { throw SatchelError(.invalid, "\(role): holds a NUL") }
    self.text = text
  }

  /// One that is known to be sound.
  init(sound text: String) { self.text = text }

  static func == (left: StateName, right: StateName) -> Bool { left.text.hasSameBytes(as: right.text) }

  static func < (left: StateName, right: StateName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
