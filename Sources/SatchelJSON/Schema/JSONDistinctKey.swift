/// A value as JSON Schema tells values apart: 1 and 1.0 are one, and the order of an object's keys does not matter.
struct JSONDistinctKey: Hashable, Sendable {
  let value: JSONValue

  static func == (left: JSONDistinctKey, right: JSONDistinctKey) -> Bool {
    JSONValue.equal(left.value, right.value, numerically: true)
  }

  func hash(into hasher: inout Hasher) { Self.hash(value, into: &hasher, level: 0) }

  /// Levels that are looked at; what differs only below is told apart by equality alone.
  private static let hashedLevels = 64

  private static func hash(_ value: JSONValue, into hasher: inout Hasher, level: Int) {
    guard level <= hashedLevels else { return }
    switch value {
    case .null: hasher.combine(0)
    case .bool(let truth): hasher.combine(truth)
    case .int(let number): hasher.combine(number)
    case .double(let number):
      if let integer = Int64(exactly: number) { hasher.combine(integer) } else { hasher.combine(number) }
    case .string(let text): hasher.combine(JSONKey(text: text))
    case .array(let elements):
      hasher.combine(elements.count)
      for element in elements { hash(element, into: &hasher, level: level + 1) }
    case .object(let members):
      // Each member by itself, so that their order does not matter.
      var sum = 0
      for (key, value) in members {
        var single = Hasher()
        single.combine(JSONKey(text: key))
        hash(value, into: &single, level: level + 1)
        sum &+= single.finalize()
      }
      hasher.combine(sum)
    }
  }
}
