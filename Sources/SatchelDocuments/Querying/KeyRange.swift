/// A half-open range of index keys, from `lower` up to but excluding `upper`.
struct KeyRange: Equatable {
  var lower: [UInt8]
  var upper: [UInt8]

  /// The keys of all records.
  static let everything = KeyRange(lower: [ValueKey.missing], upper: [0xFF])

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
  /// How selective the test is: 0 for equality, 1 for one of several, 2 for a range, 3 for existence.
  var rank: Int

  /// Returns nil when the keys cannot decide the test.
  init?(_ test: CompiledTest.Test) {
    switch test {
    case .equals(let operand):
      let key = operand.key
      self.init([KeyRange(key.bytes)], 0)
    case .oneOf(let set):
      let sorted = Set(set.operands.map(\.key.bytes)).sorted { $0.lexicographicallyPrecedes($1) }
      self.init(sorted.map { KeyRange($0) }, set.operands.count == 1 ? 0 : 1)
    case .less(let operand, let orEqual):
      let key = operand.key.bytes
      let tag = key.first ?? 0
      let upper = orEqual || !test.isDecidedByKeys ? ValueKey.successor(key) : key
      self.init([KeyRange(lower: [tag], upper: upper)], 2)
    case .greater(let operand, let orEqual):
      let key = operand.key.bytes
      let tag = key.first ?? 0
      let lower = orEqual || !test.isDecidedByKeys ? key : ValueKey.successor(key)
      self.init([KeyRange(lower: lower, upper: [tag + 1])], 2)
    case .prefix(let text):
      let key = [ValueKey.string] + text.prefix(ValueKey.maxLength)
      guard let upper = ValueKey.successor(ofPrefix: key) else { return nil }
      self.init([KeyRange(lower: key, upper: upper)], 2)
    case .exists(true): self.init([KeyRange(lower: [ValueKey.null], upper: [0xFF])], 3)
    case .exists(false): self.init([KeyRange([ValueKey.missing])], 3)
    case .notEquals, .contains: return nil
    }
  }

  /// The keys of all records.
  static let everything = KeyRanges([.everything], 3)

  private init(_ ranges: [KeyRange], _ rank: Int) {
    self.ranges = ranges
    self.rank = rank
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
}

extension CompiledTest.Test {
  /// Whether the index keys that can satisfy the test are those of exactly the records that do.
  var isDecidedByKeys: Bool {
    switch self {
    case .equals(let operand), .less(let operand, _), .greater(let operand, _): operand.key.isExact
    case .oneOf(let set): set.hasExactKeys
    case .prefix(let text): text.count <= ValueKey.maxLength
    case .exists: true
    case .notEquals, .contains: false
    }
  }
}
