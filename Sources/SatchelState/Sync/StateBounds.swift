import SatchelCore
import SatchelJSON
import SatchelStorage

/// The bounds of a list or of scores.
enum StateBounds: Equatable, Sendable {
  case list(StateListBounds)
  case scores(ClosedRange<Double>)

  /// Returns the bounds that result from those of two devices; the operation is commutative.
  static func merged(base: StateBounds?, local: StateBounds?, remote: StateBounds?) -> StateBounds? {
    guard let local, let remote, local != remote else { return local ?? remote }
    if base == local { return remote }
    if base == remote { return local }
    return local.widened(to: remote)
  }

  /// Returns the narrowest bounds that contain both.
  private func widened(to other: StateBounds) -> StateBounds {
    switch (self, other) {
    case (.list(let one), .list(let two)):
      .list(
        StateListBounds(
          limit: Self.larger(one.limit, two.limit), maxAge: Self.larger(one.maxAge, two.maxAge),
          isUnique: one.isUnique || two.isUnique))
    case (.scores(let one), .scores(let two)):
      .scores(min(one.lowerBound, two.lowerBound)...max(one.upperBound, two.upperBound))
    default: self
    }
  }

  /// Returns the larger limit; nil means unlimited.
  private static func larger<Limit: Comparable>(_ one: Limit?, _ two: Limit?) -> Limit? {
    guard let one, let two else { return nil }
    return max(one, two)
  }
}

// MARK: As JSON

extension StateBounds {
  /// The bounds in an object's members; nil for invalid ones, and for a value or a set.
  init?(_ object: JSONValue, of kind: Change.StateKey.Kind) {
    switch kind {
    case .value, .set: return nil
    case .list:
      guard let bounds = StateListBounds(object) else { return nil }
      self = .list(bounds)
    case .scores:
      guard let minimum = object["minimum"]?.doubleValue, let maximum = object["maximum"]?.doubleValue,
        minimum.isFinite, maximum.isFinite, minimum <= maximum
      else { return nil }
      self = .scores(minimum...maximum)
    }
  }

  func write(into object: inout JSONObject) {
    switch self {
    case .list(let bounds): bounds.write(into: &object)
    case .scores(let bounds):
      object["minimum"] = .double(bounds.lowerBound)
      object["maximum"] = .double(bounds.upperBound)
    }
  }
}

extension StateListBounds {
  /// The bounds in the members of an object; nil for invalid ones.
  init?(_ object: JSONValue) {
    if let limit = object["limit"] {
      guard let limit = limit.intValue, limit >= 1 else { return nil }
      self.limit = Int(exactly: limit)
    }
    if let age = object["max_age"] {
      guard let age = age.intValue, (1...StoreClock.latest).contains(age) else { return nil }
      maxAge = age
    }
    if let unique = object["unique"] {
      guard let unique = unique.boolValue else { return nil }
      isUnique = unique
    }
  }

  func write(into object: inout JSONObject) {
    if let limit { object["limit"] = .int(Int64(limit)) }
    if let maxAge { object["max_age"] = .int(maxAge) }
    object["unique"] = .bool(isUnique)
  }
}
