import SatchelCore
import SatchelJSON
import SatchelStorage

/// The identity of a JSON value: the SHA-256 of its canonical form, in which the keys of objects are sorted.
struct ValueIdentity: Hashable, Sendable {
  let bytes: [UInt8]

  init(_ value: JSONValue) throws {
    bytes = SHA256.digest(try Self.text(of: value))
  }

  init(bytes: [UInt8]) { self.bytes = bytes }

  var hexadecimal: String { bytes.hexadecimal }

  /// Returns the canonical form of a value, by which sets are also sorted.
  ///
  /// - Throws: `JSONError` for a value that cannot be represented in JSON
  static func text(of value: JSONValue) throws -> [UInt8] {
    // A value that is too deep to be sorted is too deep to be serialized, which throws here.
    guard value.depth <= JSONValue.maximumDepth else { return try value.serialized() }
    return try ordered(value).serialized()
  }

  /// Returns the value with the keys of every object in byte order, with -0.0 as 0.0, and with equal
  /// big numbers written alike.
  private static func ordered(_ value: JSONValue) -> JSONValue {
    switch value {
    case .double(let number) where number == 0: .double(0)
    case .bigNumber(let number): .bigNumber(number.canonical)
    case .array(let elements): .array(elements.map(ordered))
    case .object(let object):
      .object(
        JSONObject(
          object.map { ($0.key, ordered($0.value)) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }))
    default: value
    }
  }
}

extension [UInt8] {
  /// Creates bytes from two hexadecimal digits each, in either case; nil for any other string.
  init?(hexadecimal text: String) {
    guard text.utf8.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for character in text {
      guard character.isASCII, let digit = character.hexDigitValue.map(UInt8.init) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    self = bytes
  }
}
