extension JSONValue {
  /// How many containers stand inside each other: 0 for a scalar, 1 for [] and {}.
  ///
  /// Keeps its own stack: values that a program built may be deeper than the thread's stack allows.
  public var depth: Int {
    var budget = Int.max
    return measure(&budget)
  }

  /// The depth, taking the value's size (one per value, and the bytes of texts and keys) off the budget. Stops
  /// when the budget is used up, which leaves it below zero.
  func measure(_ budget: inout Int) -> Int {
    var deepest = 0
    var pending: [(value: JSONValue, level: Int)] = [(self, 1)]
    while let (value, level) = pending.popLast(), budget >= 0 {
      budget -= 1
      switch value {
      case .string(let text): budget -= text.utf8.count
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

  /// Throws when the value, put `level` containers deep, would exceed the limit.
  func checkDepth(inside level: Int) throws {
    guard level + depth <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
  }
}
