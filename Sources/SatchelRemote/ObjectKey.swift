/// The name of an object: components separated by slashes, none of which can escape the store or its prefix.
///
/// Keys are compared by their UTF-8 bytes: unlike Swift strings, a composed and a decomposed "é" are
/// different keys.
public struct ObjectKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The maximum length of a key in bytes of UTF-8, as in S3.
  public static let maximumLength = 1024

  public let text: String

  /// Validates a key.
  ///
  /// - Throws: `.invalidKey` for a key that is empty or longer than 1024 bytes, has a component that is
  ///   empty, "." or "..", or contains a control character
  public init(_ text: String) throws(ObjectStoreError) {
    guard !text.utf8.isEmpty else { throw ObjectStoreError(.invalidKey, "the key is empty") }
    try Self.check(text, isPrefix: false)
    self.text = text
  }

  /// Returns this key with another one as its prefix.
  ///
  /// - Throws: `.invalidKey` when the result is longer than 1024 bytes
  public func below(_ prefix: ObjectKey) throws(ObjectStoreError) -> ObjectKey {
    try ObjectKey(prefix.text + "/" + text)
  }

  /// The parts between the slashes.
  public var components: [String] {
    text.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
  }

  public var description: String { text }

  public static func == (one: Self, other: Self) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

  public static func < (one: Self, other: Self) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }

  static func check(_ text: String, isPrefix: Bool) throws(ObjectStoreError) {
    func invalid(_ reason: String) -> ObjectStoreError {
      // Control characters are left out of messages.
      let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(64).filter { !isControl($0) }))
      return ObjectStoreError(.invalidKey, "the key \"\(shown)\" \(reason)")
    }
    guard text.utf8.count <= maximumLength else { throw invalid("is longer than \(maximumLength) bytes") }
    guard !text.unicodeScalars.contains(where: isControl) else {
      throw invalid("contains a control character")
    }
    let components = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, component) in components.enumerated() {
      // A prefix may end anywhere, including after a slash.
      if isPrefix, index == components.count - 1, component.isEmpty { continue }
      guard !component.isEmpty else { throw invalid("has an empty component") }
      guard !component.elementsEqual(".".utf8), !component.elementsEqual("..".utf8) else {
        throw invalid("has a component \".\" or \"..\"")
      }
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
