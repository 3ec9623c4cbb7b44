import SatchelStorage

/// What a store calls one content of an object. Opaque: it can only be given back and compared.
///
/// Two contents have different tags. Equal bytes may have the same one, as in S3.
public struct ETag: Sendable, Hashable, CustomStringConvertible {
  /// As the store wrote it, with the quotes if it wrote any.
  public let text: String

  /// - Returns: nil for what cannot stand in a header: empty, longer than 1024 bytes, or not printable ASCII
  public init?(_ text: String) {
    guard (1...1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return nil
    }
    self.text = text
  }

  /// A hash is always fit to be a tag.
  init(hash: [UInt8]) { text = hash.hexadecimal }

  public var description: String { text }
}
