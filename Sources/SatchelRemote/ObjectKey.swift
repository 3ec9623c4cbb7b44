import SatchelCore

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

/// User-defined metadata of an object. It is sent as HTTP headers, and limited to what they can carry.
public struct ObjectMetadata: Sendable, Equatable {
  /// The maximum size of all names and values together in bytes, as in S3.
  public static let maximumSize = 2048

  /// The values by name; names are in lower case.
  public let values: [String: String]

  /// Empty metadata.
  public static let none = ObjectMetadata()

  private init() { values = [:] }

  /// Validates metadata.
  ///
  /// - Parameter values: names of a-z, 0-9 and "-"; values of printable ASCII that neither begin nor end with
  ///   a space and have no two consecutive spaces, because signatures and proxies do not preserve those
  /// - Throws: `.failed(.invalid)` for other names or values, and for more than `maximumSize` bytes
  public init(_ values: [String: String]) throws(ObjectStoreError) {
    var size = 0
    for (name, value) in values {
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isOfName) else {
        throw ObjectStoreError(.failed(.invalid), "a metadata name may contain only a-z, 0-9 and \"-\"")
      }
      guard Self.isValue(value) else {
        throw ObjectStoreError(
          .failed(.invalid), "the metadata value of \"\(name)\" is not printable ASCII, or has extra spaces")
      }
      size += name.utf8.count + value.utf8.count
    }
    guard size <= Self.maximumSize else {
      throw ObjectStoreError(.failed(.invalid), "the metadata is larger than \(Self.maximumSize) bytes")
    }
    self.values = values
  }

  public subscript(name: String) -> String? { values[name] }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
    default: false
    }
  }

  private static func isValue(_ value: String) -> Bool {
    let space = UInt8(ascii: " ")
    var last = space
    for byte in value.utf8 {
      guard (0x20...0x7E).contains(byte), byte != space || last != space else { return false }
      last = byte
    }
    return value.isEmpty || last != space
  }
}

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
