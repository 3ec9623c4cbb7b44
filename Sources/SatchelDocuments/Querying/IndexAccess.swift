import SatchelCore
import SatchelStorage

/// The keys of an index in which all records are that fulfil some conditions.
struct IndexAccess {
  private let index: CollectionIndex
  /// The conditions that all records with these keys fulfil.
  private(set) var proved: [CompiledFilter] = []
  private(set) var keys = KeyRanges.everything
  /// Whether the conditions have a part in the keys.
  private(set) var isNarrowed = false
  /// The number of parts of the index for which the conditions allow one value.
  private var equal = 0
  /// The beginning of the keys, of those values.
  private var prefix: [UInt8] = []

  /// - Returns: nil for an index in which records may be missing that fulfil the conditions
  init?(_ index: CollectionIndex, _ conditions: [CompiledFilter]) {
    self.index = index
    if let filter = index.definition.filter {
      for needed in filter.conditions {
        guard conditions.contains(where: { $0.implies(needed) }) else { return nil }
        proved += conditions.filter { $0.isSame(as: needed) }
      }
      isNarrowed = true
      keys.rank = 2
    }
    if index.definition.hasElements {
      guard narrowElements(conditions) else { return nil }
    } else if index.parts.count == 1 {
      narrowOne(conditions)
    } else {
      narrowParts(conditions)
    }
  }

  /// The tests of a path that keys can decide. The texts that a range of times cannot compare are looked for in an index of
  /// one path only.
  private func tests(
    of path: FieldPath, _ conditions: [CompiledFilter]
  ) -> [(condition: CompiledFilter, test: CompiledTest)] {
    conditions.compactMap { condition in
      guard let test = condition.test, test.path == path, test.times == nil || index.definition.isPlain else {
        return nil
      }
      return (condition, test)
    }
  }

  /// - Returns: whether a condition needs an element; a record without elements has no entry
  private mutating func narrowElements(_ conditions: [CompiledFilter]) -> Bool {
    // Each condition may be fulfilled by another element: the keys of one of them are read.
    var best: (condition: CompiledFilter, isProved: Bool, keys: KeyRanges)?
    for (condition, test) in tests(of: index.path, conditions) where test.needsValue {
      guard let keys = KeyRanges(test), keys.rank < best?.keys.rank ?? .max else { continue }
      best = (condition, test.test.isDecidedByKeys, keys)
    }
    guard let best else { return false }
    (keys, isNarrowed) = (best.keys, true)
    if best.isProved { proved.append(best.condition) }
    return true
  }

  private mutating func narrowOne(_ conditions: [CompiledFilter]) {
    for (condition, test) in tests(of: index.path, conditions) {
      guard let found = KeyRanges(test) else { continue }
      keys.narrow(found)
      isNarrowed = true
      if test.test.isDecidedByKeys { proved.append(condition) }
    }
  }

  private mutating func narrowParts(_ conditions: [CompiledFilter]) {
    var last: KeyRanges?
    for part in index.parts {
      var found: KeyRanges?
      var decided: [CompiledFilter] = []
      for (condition, test) in tests(of: part.path, conditions) {
        guard let keys = KeyRanges(test, isPart: true) else { continue }
        if found == nil { found = keys } else { found?.narrow(keys) }
        if test.test.isDecidedByKeys { decided.append(condition) }
      }
      guard var found else { break }
      (isNarrowed, proved) = (true, proved + decided)
      if found.rank == 0, found.ranges.count == 1 {
        prefix += part.isDescending ? found.ranges[0].lower.map { ~$0 } : found.ranges[0].lower
        equal += 1
        continue
      }
      if part.isDescending { found.ranges = found.ranges.reversed().map(\.inverted) }
      last = found
      break
    }
    if let last {
      keys = KeyRanges(last.ranges.map { $0.following(prefix) }, equal > 0 ? min(2, last.rank) : last.rank)
    } else if equal == index.parts.count {
      keys = KeyRanges([KeyRange(prefix)], 0)
    } else if equal > 0 {
      keys = KeyRanges([KeyRange(prefix: prefix)], 0)
    }
  }

  /// Returns how the index has the records in an order; nil when it has not.
  func order(_ order: [CompiledQuery.Order]) -> QueryPlan.IndexOrder? {
    if index.parts.count == 1 {
      guard let first = order.first, first.path == index.path else { return nil }
      return QueryPlan.IndexOrder(isBackward: first.isDescending, covered: 1, isWhole: true, prefix: [])
    }
    var (covered, isBackward) = (0, false)
    for (part, wanted) in zip(index.parts.dropFirst(equal), order) {
      // The nulls are where the index has them.
      guard part.path == wanted.path, wanted.nullsLast == nil else { break }
      let isOpposite = part.isDescending != wanted.isDescending
      if covered == 0 { isBackward = isOpposite }
      guard isOpposite == isBackward else { break }
      covered += 1
    }
    guard covered > 0 else { return nil }
    return QueryPlan.IndexOrder(
      isBackward: isBackward, covered: covered, isWhole: equal + covered == index.parts.count, prefix: prefix)
  }
}

extension CompiledFilter {
  /// Whether all records that match this condition match another one, as far as that can be seen.
  fileprivate func implies(_ other: CompiledFilter) -> Bool {
    if isSame(as: other) { return true }
    guard let test, let needed = other.test, test.path == needed.path else { return false }
    // A test for one element says nothing about the others.
    if case .elements = test.path { return false }
    switch (needed.test, needed.isNegated) {
    case (.exists(true), false): return test.needsValue
    case (.equals(let operand), true):
      // No other test than that for null holds for null.
      guard case .null = operand.content, test.needsValue else { return false }
      switch test.test {
      case .less, .greater, .prefix, .contains: return true
      case .equals(let wanted): if case .null = wanted.content { return false } else { return true }
      case .oneOf(let set):
        return !set.operands.contains { if case .null = $0.content { true } else { false } }
      case .exists: return false
      }
    default: return false
    }
  }
}
