/// A value with the equality of JSON Schema: 1 equals 1.0, and the order of an object's keys is ignored.
struct JSONDistinctKey: Hashable, Sendable {
  let value: JSONValue

  static func == (left: JSONDistinctKey, right: JSONDistinctKey) -> Bool {
    JSONValue.equal(left.value, right.value, numerically: true)
  }

  func hash(into hasher: inout Hasher) { Self.hash(value, into: &hasher, level: 0) }

  /// The number of levels that are hashed; values that differ only below have the same hash, and are
  /// compared.
  private static let hashedLevels = 64

  private static func hash(_ value: JSONValue, into hasher: inout Hasher, level: Int) {
    guard level <= hashedLevels else { return }
    switch value {
    case .null: hasher.combine(0)
    case .bool(let bool): hasher.combine(bool)
    case .int(let number): hasher.combine(number)
    case .double(let number):
      if let integer = Int64(exactly: number) { hasher.combine(integer) } else { hasher.combine(number) }
    case .bigNumber(let number):
      let exact = number.expansion
      let nearest = exact.nearest
      // A double may have the same value, so that only it is hashed.
      hasher.combine(nearest)
      if exact.side(of: nearest) != 0 { hasher.combine(exact.digits) }
    case .string(let text): hasher.combine(JSONKey(text: text))
    case .array(let elements):
      hasher.combine(elements.count)
      for element in elements { hash(element, into: &hasher, level: level + 1) }
    case .object(let members):
      // The hashes of the members are added, so that their order does not matter.
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
