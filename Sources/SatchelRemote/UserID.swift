import SatchelStorage

/// Whose content it is, in an object store: a name, never a path.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let text: String

  /// - Throws: `SatchelError` (`invalid`) unless it is 1 to 128 of A-Z, a-z, 0-9, ".", "_" and "-", and not dots
  ///   only.
  public init(_ text: String) throws {
    let bytes = text.utf8
    guard (1...128).contains(bytes.count) else {
      throw SatchelError(.invalid, "user: an id has 1 to 128 characters, not \(bytes.count)")
    }
    guard bytes.allSatisfy(UserID.isAllowed) else {
      throw SatchelError(.invalid, "user: an id has letters, digits, \".\", \"_\" and \"-\" of ASCII only")
    }
    guard bytes.contains(where: { $0 != UInt8(ascii: ".") }) else {
      throw SatchelError(.invalid, "user: an id is not dots only")
    }
    self.text = text
  }

  public var description: String { text }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }
}
