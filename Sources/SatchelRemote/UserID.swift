import SatchelCore

/// The ID of a user, which separates users' content in an object store. It is a name, never a path.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let text: String

  /// Validates a user ID.
  ///
  /// - Throws: `SatchelError` (`invalid`) unless it is 1 to 128 of A-Z, a-z, 0-9, ".", "_" and "-", and not
  ///   only dots
  public init(_ text: String) throws {
    let bytes = text.utf8
    guard (1...128).contains(bytes.count) else {
      throw SatchelError(.invalid, "user: an ID has 1 to 128 characters, not \(bytes.count)")
    }
    guard bytes.allSatisfy(UserID.isAllowed) else {
      throw SatchelError(
        .invalid, "user: an ID may contain only ASCII letters, digits, \".\", \"_\" and \"-\"")
    }
    guard bytes.contains(where: { $0 != UInt8(ascii: ".") }) else {
      throw SatchelError(.invalid, "user: an ID must not consist only of dots")
    }
    self.text = text
  }

  public var description: String { text }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }
}
