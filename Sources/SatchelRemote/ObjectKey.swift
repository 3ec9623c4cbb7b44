/// The name of an object: components between slashes, none of which can lead out of the store or its prefix.
///
/// Keys are equal when their bytes are: unlike strings, a composed "é" is another key than a decomposed one.
public struct ObjectKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The most bytes of UTF-8 that a key may have, as in S3.
  public static let maximumLength = 1024

  public let text: String

  /// - Throws: `.invalidKey` for a key that is empty or longer than 1024 bytes, has a component that is empty, "."
  ///   or "..", or holds a control character
  public init(_ text: String) throws(ObjectStoreError) {
    guard !text.utf8.isEmpty else { throw ObjectStoreError(.invalidKey, "an empty key") }
    try Self.check(text, isPrefix: false)
    self.text = text
  }

  /// This key below another one.
  ///
  /// - Throws: `.invalidKey` when both together are too long
  public func below(_ prefix: ObjectKey) throws(ObjectStoreError) -> ObjectKey {
    try ObjectKey(prefix.text + "/" + text)
  }

  /// What stands between the slashes.
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
    func refuse(_ why: String) -> ObjectStoreError {
      // What cannot be shown is not: control characters do not belong into messages either.
      let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(64).filter { !isControl($0) }))
      return ObjectStoreError(.invalidKey, "the key \"\(shown)\" \(why)")
    }
    guard text.utf8.count <= maximumLength else { throw refuse("is longer than \(maximumLength) bytes") }
    guard !text.unicodeScalars.contains(where: isControl) else { throw refuse("holds a control character") }
    let components = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, component) in components.enumerated() {
      // A prefix may end anywhere, also behind a slash.
      if isPrefix, index == components.count - 1, component.isEmpty { continue }
      guard !component.isEmpty else { throw refuse("has an empty component") }
      guard !component.elementsEqual(".".utf8), !component.elementsEqual("..".utf8) else {
        throw refuse("has a component \".\" or \"..\"")
      }
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
