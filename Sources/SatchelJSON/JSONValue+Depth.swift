extension JSONValue {
  /// The nesting depth: 0 for a scalar, 1 for [] and {}.
  ///
  /// Uses an explicit stack, because a value built by a program may be too deep for recursion on the thread's
  /// stack.
  package var depth: Int {
    var budget = Int.max
    return measure(&budget)
  }

  /// Returns the depth, and subtracts the value's size (one per value, plus the bytes of strings, keys and
  /// big numbers)
  /// from the budget. Stops when the budget is exhausted, which leaves it negative.
  func measure(_ budget: inout Int) -> Int {
    var deepest = 0
    var pending: [(value: JSONValue, level: Int)] = [(self, 1)]
    while let (value, level) = pending.popLast(), budget >= 0 {
      budget -= 1
      switch value {
      case .string(let text): budget -= text.utf8.count
      case .bigNumber(let number): budget -= number.text.utf8.count
      case .array(let elements):
        deepest = max(deepest, level)
        for element in elements { pending.append((element, level + 1)) }
      case .object(let object):
        deepest = max(deepest, level)
        for member in object.members {
          budget -= member.key.utf8.count
          pending.append((member.value, level + 1))
        }
      default: break
      }
    }
    return deepest
  }

  /// Throws when the value would exceed the maximum depth inside of `level` containers.
  func checkDepth(inside level: Int) throws {
    guard level + depth <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
  }
}
