import SatchelCore
import SatchelJSON

/// Encodes values as bytes whose order (memcmp, the shorter one first) is the order of values: missing, null,
/// false, true, numbers by their exact value, times, strings, arrays, objects. 1 and 1.0 have the same key; times are
/// values of a path that is declared to have them.
enum ValueKey {
  /// Every record has an entry in an index of a path, so that it has the whole order of its collection. No tag is 0, so that
  /// inverted ones are below 0xFF.
  static let missing: UInt8 = 1
  static let null: UInt8 = 2
  static let no: UInt8 = 3
  static let yes: UInt8 = 4
  static let number: UInt8 = 5
  static let time: UInt8 = 6
  static let string: UInt8 = 7
  static let array: UInt8 = 8
  static let object: UInt8 = 9

  /// The maximum number of bytes of a string in a key, and of a key that identifies its value.
  static let maxLength = 512

  /// Appends the key of a value.
  ///
  /// - Returns: whether the key alone identifies the value
  @discardableResult
  static func append(_ value: FieldValue, to bytes: inout [UInt8]) -> Bool {
    switch value {
    case .missing: bytes.append(missing)
    case .null: bytes.append(null)
    case .bool(let value): bytes.append(value ? yes : no)
    case .int(let value): append(value, to: &bytes)
    case .double(let value): append(value, to: &bytes)
    case .bigNumber(let value): return append(value, to: &bytes)
    case .string(let text): return append(string, text, to: &bytes)
    case .ownedString(let text): return text.withUnsafeBytes { append(string, $0, to: &bytes) }
    case .typed(let value): return value.key.withUnsafeBytes { append(value.tag, $0, to: &bytes) }
    case .array:
      bytes.append(array)
      return false
    case .object:
      bytes.append(object)
      return false
    }
    return true
  }

  private static func append(_ tag: UInt8, _ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Bool {
    bytes.append(tag)
    bytes.append(contentsOf: text.prefix(maxLength))
    return text.count < maxLength
  }

  /// Returns whether a stored key alone decides the order of its record; those with equal keys are equal
  /// then.
  static func decidesOrder(_ key: UnsafeRawBufferPointer) -> Bool { key.count <= maxLength }

  // MARK: Numbers

  static func append(_ value: Double, to bytes: inout [UInt8]) {
    append(ordered(value), rest: 0, to: &bytes)
  }

  static func append(_ value: Int64, to bytes: inout [UInt8]) {
    let nearest = Double(value)
    // The rounding error is at most 512; its sign orders integers around the same double.
    let rest = Int128(value) - Int128(nearest)
    append(ordered(nearest), rest: Int16(truncatingIfNeeded: rest), to: &bytes)
  }

  /// - Returns: whether the key alone identifies the number
  static func append(_ value: JSONBigNumber, to bytes: inout [UInt8]) -> Bool {
    let start = bytes.count
    appendWhole(value, to: &bytes)
    guard bytes.count - start > maxLength else { return true }
    bytes.removeSubrange((start + maxLength + 1)...)
    return false
  }

  /// Appends the key of a number, however many digits it has: that of the nearest double, with a rest that no
  /// integer has and which says on which side of it the number is, then the number.
  static func appendWhole(_ value: JSONBigNumber, to bytes: inout [UInt8]) {
    let exact = value.expansion
    let nearest = exact.nearest
    let side = exact.side(of: nearest)
    append(ordered(nearest), rest: Int16(side) << 14, to: &bytes)
    guard side != 0 else { return }
    let start = bytes.count
    let magnitude = UInt64(bitPattern: exact.magnitude) ^ 1 << 63
    withUnsafeBytes(of: magnitude.bigEndian) { bytes.append(contentsOf: $0) }
    // The end sorts before any digit.
    bytes.append(contentsOf: exact.digits.lazy.map { $0 + 1 })
    bytes.append(0)
    if exact.isNegative { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
  }

  private static func append(_ ordered: UInt64, rest: Int16, to bytes: inout [UInt8]) {
    bytes.append(number)
    withUnsafeBytes(of: ordered.bigEndian) { bytes.append(contentsOf: $0) }
    let biased = UInt16(bitPattern: rest) ^ 0x8000
    bytes.append(UInt8(biased >> 8))
    bytes.append(UInt8(biased & 0xFF))
  }

  private static func ordered(_ value: Double) -> UInt64 {
    // -0.0 equals 0.0.
    let bits = (value == 0 ? 0.0 : value).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  // MARK: Ranges

  /// Returns the first key after all that begin with a prefix; nil when no key can follow.
  static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    var bytes = prefix
    while let last = bytes.popLast() {
      if last < 0xFF { return bytes + [last + 1] }
    }
    return nil
  }

  /// Returns the first key after a key.
  static func successor(_ key: [UInt8]) -> [UInt8] { key + [0] }
}
