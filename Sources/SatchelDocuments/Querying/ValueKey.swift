import SatchelCore
import SatchelJSON

/// Encodes values as bytes whose order (memcmp, the shorter one first) is the order of values: missing, null,
/// false, true, numbers by their exact value, strings, arrays, objects. 1 and 1.0 have the same key.
enum ValueKey {
  /// Every record has an entry in every index, so that an index has the whole order of its collection.
  static let missing: UInt8 = 0
  static let null: UInt8 = 1
  static let no: UInt8 = 2
  static let yes: UInt8 = 3
  static let number: UInt8 = 4
  static let string: UInt8 = 5
  static let array: UInt8 = 6
  static let object: UInt8 = 7

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
    case .string(let text): return append(text, to: &bytes)
    case .ownedString(let text): return text.withUnsafeBytes { append($0, to: &bytes) }
    case .array:
      bytes.append(array)
      return false
    case .object:
      bytes.append(object)
      return false
    }
    return true
  }

  private static func append(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Bool {
    bytes.append(string)
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

/// A half-open range of index keys, from `lower` up to but excluding `upper`.
struct KeyRange: Equatable {
  var lower: [UInt8]
  var upper: [UInt8]

  /// The keys of all records.
  static let everything = KeyRange(lower: [ValueKey.missing], upper: [0xFF])
  /// Those of missing and null values, and all others.
  static let nulls = KeyRange(lower: [ValueKey.missing], upper: [ValueKey.null + 1])
  static let values = KeyRange(lower: [ValueKey.null + 1], upper: [0xFF])

  init(lower: [UInt8], upper: [UInt8]) {
    self.lower = lower
    self.upper = upper
  }

  /// One key.
  init(_ key: [UInt8]) {
    lower = key
    upper = ValueKey.successor(key)
  }

  var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }

  /// Whether it has one key only, so that its entries are in the order of their records.
  var isOneKey: Bool { upper == ValueKey.successor(lower) }

  func intersection(_ other: KeyRange) -> KeyRange {
    KeyRange(
      lower: lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower,
      upper: upper.lexicographicallyPrecedes(other.upper) ? upper : other.upper)
  }
}

/// The index keys that can satisfy a test of the indexed field.
struct KeyRanges {
  /// In ascending order, without overlaps.
  var ranges: [KeyRange]
  /// How selective the test is: 0 for equality, 1 for one of several, 2 for a range, 3 for existence and for all but
  /// some values.
  var rank: Int

  /// Returns nil when the keys cannot decide the test.
  init?(_ test: CompiledTest) {
    guard var ranges = KeyRanges(test.test) else { return nil }
    if test.isNegated {
      // The complement of the keys that may satisfy the test lacks some that do not.
      guard test.test.isDecidedByKeys else { return nil }
      ranges = ranges.complement
    }
    self = ranges
  }

  private init?(_ test: CompiledTest.Test) {
    switch test {
    case .equals(let operand): self.init([KeyRange(operand.key.bytes)], 0)
    case .oneOf(let set):
      let sorted = Set(set.operands.map(\.key.bytes)).ordered { $0.lexicographicallyPrecedes($1) }
      self.init(sorted.map { KeyRange($0) }, set.operands.count == 1 ? 0 : 1)
    case .less(let operand, let orEqual):
      let key = operand.key.bytes
      let upper = orEqual || !test.isDecidedByKeys ? ValueKey.successor(key) : key
      self.init([KeyRange(lower: [key.first ?? 0], upper: upper)], 2)
    case .greater(let operand, let orEqual):
      let key = operand.key.bytes
      let lower = orEqual || !test.isDecidedByKeys ? key : ValueKey.successor(key)
      self.init([KeyRange(lower: lower, upper: [(key.first ?? 0) + 1])], 2)
    case .prefix(let text):
      let key = [ValueKey.string] + text.prefix(ValueKey.maxLength)
      guard let upper = ValueKey.successor(ofPrefix: key) else { return nil }
      self.init([KeyRange(lower: key, upper: upper)], 2)
    case .exists(true): self.init([KeyRange(lower: [ValueKey.null], upper: [0xFF])], 3)
    case .exists(false): self.init([KeyRange([ValueKey.missing])], 3)
    case .contains: return nil
    }
  }

  /// The keys of all records.
  static let everything = KeyRanges([.everything], 3)

  init(_ ranges: [KeyRange], _ rank: Int) {
    self.ranges = ranges
    self.rank = rank
  }

  /// All other keys.
  private var complement: KeyRanges {
    var gaps: [KeyRange] = []
    var lower = KeyRange.everything.lower
    for range in ranges {
      let gap = KeyRange(lower: lower, upper: range.lower)
      if !gap.isEmpty { gaps.append(gap) }
      lower = range.upper
    }
    let last = KeyRange(lower: lower, upper: KeyRange.everything.upper)
    if !last.isEmpty { gaps.append(last) }
    return KeyRanges(gaps, rank == 2 ? 2 : 3)
  }

  /// Intersects the ranges with others.
  mutating func narrow(_ other: KeyRanges) {
    var common: [KeyRange] = []
    var (left, right) = (0, 0)
    while left < ranges.count, right < other.ranges.count {
      let both = ranges[left].intersection(other.ranges[right])
      if !both.isEmpty { common.append(both) }
      if ranges[left].upper.lexicographicallyPrecedes(other.ranges[right].upper) {
        left += 1
      } else {
        right += 1
      }
    }
    ranges = common
    rank = min(rank, other.rank)
  }

  /// Returns the ranges with those of missing and null values first or last.
  func ordered(nullsLast: Bool, descending: Bool) -> [KeyRange] {
    func part(_ part: KeyRange) -> [KeyRange] {
      let common = ranges.map { $0.intersection(part) }.filter { !$0.isEmpty }
      return descending ? common.reversed() : common
    }
    return nullsLast ? part(.values) + part(.nulls) : part(.nulls) + part(.values)
  }
}

extension CompiledTest.Test {
  /// Whether the index keys that can satisfy the test are those of exactly the records that do.
  var isDecidedByKeys: Bool {
    switch self {
    case .equals(let operand), .less(let operand, _), .greater(let operand, _): operand.key.isExact
    case .oneOf(let set): set.hasExactKeys
    case .prefix(let text): text.count <= ValueKey.maxLength
    case .exists: true
    case .contains: false
    }
  }
}
