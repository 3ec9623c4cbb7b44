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
