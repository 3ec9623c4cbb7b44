import SatchelJSON
import SatchelStorage

/// What equal JSON values share, in whatever order the keys of their objects stand: the SHA-256 of a text
/// that equal values have in common.
struct ValueIdentity: Hashable, Sendable {
  let bytes: [UInt8]

  init(_ value: JSONValue) throws {
    bytes = SHA256.digest(try Self.text(of: value))
  }

  init(bytes: [UInt8]) { self.bytes = bytes }

  var hexadecimal: String { bytes.hexadecimal }

  /// The text that equal values share, which is also what sets are sorted by.
  ///
  /// - Throws: `JSONError` for what has no form in JSON
  static func text(of value: JSONValue) throws -> [UInt8] {
    // Too deep to be ordered is too deep to be written, which is told here.
    guard value.depth <= JSONValue.maximumDepth else { return try value.serialized() }
    return try ordered(value).serialized()
  }

  /// With the keys of every object in the order of their bytes, and one zero.
  private static func ordered(_ value: JSONValue) -> JSONValue {
    switch value {
    case .double(let number) where number == 0: .double(0)
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
