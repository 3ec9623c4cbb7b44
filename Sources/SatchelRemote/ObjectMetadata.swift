/// What a writer says about an object beside its content; travels in headers, and is bound to what those can carry.
public struct ObjectMetadata: Sendable, Equatable {
  /// The most bytes of all names and values together, as in S3.
  public static let maximumSize = 2048

  /// Values by their names, which are in lower case.
  public let values: [String: String]

  /// Nothing to say.
  public static let none = ObjectMetadata()

  private init() { values = [:] }

  /// - Parameter values: names of a-z, 0-9 and "-"; values of printable ASCII that neither begin nor end with a
  ///   space and have no two spaces side by side, because signatures and proxies do not keep those
  /// - Throws: `.failed(.invalid)` for others, and when there is too much of it
  public init(_ values: [String: String]) throws(ObjectStoreError) {
    var size = 0
    for (name, value) in values {
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isOfName) else {
        throw ObjectStoreError(.failed(.invalid), "a name of metadata is not made of a-z, 0-9 and \"-\"")
      }
      guard Self.isValue(value) else {
        throw ObjectStoreError(.failed(.invalid), "the metadata \"\(name)\" is not plain printable ASCII")
      }
      size += name.utf8.count + value.utf8.count
    }
    guard size <= Self.maximumSize else {
      throw ObjectStoreError(.failed(.invalid), "more than \(Self.maximumSize) bytes of metadata")
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
