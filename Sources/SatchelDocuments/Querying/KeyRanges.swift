import SatchelCore
import SatchelJSON

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

  /// All keys that begin with some bytes.
  init(prefix: [UInt8]) { self.init(lower: prefix, upper: ValueKey.successor(ofPrefix: prefix) ?? [0xFF]) }

  /// The keys of this range, inverted: those of a part of an index whose order is descending.
  var inverted: KeyRange {
    func after(_ key: [UInt8]) -> [UInt8] { ValueKey.successor(ofPrefix: key.map { ~$0 }) ?? [0xFF] }
    return KeyRange(lower: after(upper), upper: after(lower))
  }

  /// The keys of this range, after the same bytes.
  func following(_ prefix: [UInt8]) -> KeyRange { KeyRange(lower: prefix + lower, upper: prefix + upper) }

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
  ///
  /// - Parameter isPart: whether other keys follow in the index; none is the beginning of another then
  init?(_ test: CompiledTest, isPart: Bool = false) {
    guard var ranges = KeyRanges(test.test, isPart: isPart, test.path.type) else { return nil }
    if test.isNegated {
      // The complement of the keys that may satisfy the test lacks some that do not.
      guard test.test.isDecidedByKeys else { return nil }
      ranges = ranges.complement
    }
    self = ranges
  }

  private init?(_ test: CompiledTest.Test, isPart: Bool, _ type: RecordType?) {
    func one(_ key: [UInt8]) -> KeyRange { isPart ? KeyRange(prefix: key) : KeyRange(key) }
    switch test {
    case .equals(let operand): self.init([one(operand.key(isPart: isPart).bytes)], 0)
    case .oneOf(let set):
      let sorted = Set(set.operands.map { $0.key(isPart: isPart).bytes }).ordered {
        $0.lexicographicallyPrecedes($1)
      }
      self.init(sorted.map(one), set.operands.count == 1 ? 0 : 1)
    case .less(let operand, let orEqual):
      let key = operand.key(isPart: isPart).bytes
      let upper = orEqual || !test.isDecidedByKeys ? one(key).upper : key
      self.init([KeyRange(lower: [key.first ?? 0], upper: upper)], 2)
    case .greater(let operand, let orEqual):
      let key = operand.key(isPart: isPart).bytes
      let lower = orEqual || !test.isDecidedByKeys ? key : one(key).upper
      self.init([KeyRange(lower: lower, upper: [(key.first ?? 0) + 1])], 2)
    case .prefix(let text):
      // The keys of other types are not their texts.
      guard type.map({ $0.kind == .text && $0.order == .bytes }) ?? true else { return nil }
      var key = [ValueKey.string]
      let beginning = text.prefix(ValueKey.maxLength)
      if isPart { OrderKey.append(escaped: beginning, to: &key) } else { key += beginning }
      self.init([KeyRange(prefix: key)], 2)
    case .exists(true): self.init([KeyRange(lower: [ValueKey.null], upper: [0xFF])], 3)
    case .exists(false): self.init([one([ValueKey.missing])], 3)
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
    case .equals(let operand), .less(let operand, _), .greater(let operand, _): operand.isExact
    case .oneOf(let set): set.hasExactKeys
    case .prefix(let text): text.count <= ValueKey.maxLength
    case .exists: true
    case .contains: false
    }
  }
}
