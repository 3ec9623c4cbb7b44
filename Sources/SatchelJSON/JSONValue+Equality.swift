extension JSONValue: Equatable {
  /// Returns whether both have the same type and the same value; the order of an object's keys is ignored.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    equal(left, right, numerically: false)
  }

  /// Returns whether two values are equal; with `numerically`, 1 and 1.0 are equal.
  ///
  /// Uses an explicit stack, because a value built by a program may be too deep for recursion on the thread's
  /// stack.
  package static func equal(_ left: JSONValue, _ right: JSONValue, numerically: Bool) -> Bool {
    var pending: [(JSONValue, JSONValue)] = []
    var pair: (JSONValue, JSONValue)? = (left, right)
    while let (left, right) = pair {
      switch (left, right) {
      case (.array(let left), .array(let right)):
        guard left.count == right.count else { return false }
        for (left, right) in zip(left, right) {
          guard let same = equalScalars(left, right, numerically: numerically) else {
            pending.append((left, right))
            continue
          }
          if !same { return false }
        }
      case (.object(let left), .object(let right)):
        guard left.count == right.count else { return false }
        for (position, member) in left.enumerated() {
          guard let other = right.value(of: member.key, near: position) else { return false }
          guard let same = equalScalars(member.value, other, numerically: numerically) else {
            pending.append((member.value, other))
            continue
          }
          if !same { return false }
        }
      default:
        guard equalScalars(left, right, numerically: numerically) == true else { return false }
      }
      pair = pending.popLast()
    }
    return true
  }

  /// Returns nil when both are containers of the same kind, whose elements must be compared.
  private static func equalScalars(_ left: JSONValue, _ right: JSONValue, numerically: Bool) -> Bool? {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.int(let left), .int(let right)): return left == right
    case (.double(let left), .double(let right)): return left == right
    case (.bigNumber(let left), .bigNumber(let right)):
      return numerically ? left.order(right) == 0 : left == right
    case (.string(let left), .string(let right)): return left.hasSameBytes(as: right)
    case (.int(let int), .double(let double)), (.double(let double), .int(let int)):
      return numerically && Int64(exactly: double) == int
    case (.bigNumber(let big), .double(let double)), (.double(let double), .bigNumber(let big)):
      return numerically && big.order(double) == 0
    case (.array, .array), (.object, .object): return nil
    default: return false
    }
  }
}

extension JSONObject: Equatable {
  /// Returns whether both have the same keys with equal values, in any order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    JSONValue.object(left) == JSONValue.object(right)
  }
}
