import SatchelJSON

import SatchelDocuments

/// Records in memory, and what queries of them give, without indexes, keys or a planner.
struct QueryModel {
  private var order: [String] = []
  private var documents: [String: JSONObject] = [:]

  mutating func put(_ id: String, _ document: JSONObject) {
    if documents.updateValue(document, forKey: id) == nil { order.append(id) }
  }

  mutating func delete(_ id: String) {
    guard documents.removeValue(forKey: id) != nil else { return }
    order.removeAll { $0 == id }
  }

  func ids(_ query: RecordQuery) -> [String] {
    var found = matching(query.filter)
    if !query.order.isEmpty {
      let positions = Dictionary(uniqueKeysWithValues: found.enumerated().map { ($1, $0) })
      found.sort { left, right in
        for part in query.order {
          let (one, two) = (value(left, part.path), value(right, part.path))
          let (isNull, otherIsNull) = (Self.isNull(one), Self.isNull(two))
          if let nulls = query.nulls, isNull != otherIsNull { return isNull == (nulls == .first) }
          let order = Self.compare(one, two)
          if order != 0 { return (order < 0) != part.isDescending }
        }
        return positions[left, default: 0] < positions[right, default: 0]
      }
    }
    let rest = found.dropFirst(query.offset)
    return Array(query.limit.map { rest.prefix($0) } ?? rest)
  }

  func counts(_ filter: RecordFilter?, by path: String) -> [String: Int] {
    matching(filter).reduce(into: [:]) { $0[Self.name(value($1, path)), default: 0] += 1 }
  }

  func sum(_ filter: RecordFilter?, of path: String) -> JSONValue {
    var (total, isWhole) = (0.0, true)
    for id in matching(filter) {
      switch value(id, path) {
      case .int(let number): total += Double(number)
      case .double(let number): (total, isWhole) = (total + number, false)
      default: break
      }
    }
    return isWhole ? .int(Int64(total)) : .double(total)
  }

  /// A name that equal values have in common.
  static func name(_ value: JSONValue?) -> String {
    switch value {
    case nil, .null?: "null"
    case .int(let number)?: "\(Double(number))"
    case .double(let number)?: "\(number)"
    case .string(let text)?: "\"\(text)\""
    case let value?: "\(value)"
    }
  }

  private func matching(_ filter: RecordFilter?) -> [String] {
    order.filter { id in filter.map { matches(id, $0) } ?? true }
  }

  private func value(_ id: String, _ path: String) -> JSONValue? {
    if path == "@id" { return .string(id) }
    var value: JSONValue? = .object(documents[id] ?? [:])
    for name in path.split(separator: ".") { value = value?[String(name)] }
    return value
  }

  private func matches(_ id: String, _ filter: RecordFilter) -> Bool {
    switch filter {
    case .all(let parts): return parts.allSatisfy { matches(id, $0) }
    case .any(let parts): return parts.contains { matches(id, $0) }
    case .not(let part): return !matches(id, part)
    case .field(let path, let test): return matches(value(id, path), test)
    }
  }

  private func matches(_ value: JSONValue?, _ test: RecordTest) -> Bool {
    func ranged(_ bound: JSONValue, _ holds: (Int) -> Bool) -> Bool {
      guard let value, Self.rank(value) == Self.rank(bound) else { return false }
      return holds(Self.compare(value, bound))
    }
    func equals(_ other: JSONValue) -> Bool {
      value != nil && Self.compare(value, other) == 0
    }
    switch test {
    case .equals(let other): return equals(other)
    case .notEquals(let other): return !equals(other)
    case .less(let bound): return ranged(bound) { $0 < 0 }
    case .lessOrEqual(let bound): return ranged(bound) { $0 <= 0 }
    case .greater(let bound): return ranged(bound) { $0 > 0 }
    case .greaterOrEqual(let bound): return ranged(bound) { $0 >= 0 }
    case .oneOf(let values): return values.contains(where: equals)
    case .prefix(let prefix):
      guard case .string(let text)? = value else { return false }
      return text.utf8.starts(with: prefix.utf8)
    case .exists(let wanted): return (value != nil) == wanted
    case .contains: return false
    }
  }

  private static func isNull(_ value: JSONValue?) -> Bool { value.map { $0 == .null } ?? true }

  private static func rank(_ value: JSONValue?) -> Int {
    switch value {
    case nil: 0
    case .null?: 1
    case .bool(false)?: 2
    case .bool(true)?: 3
    case .int?, .double?, .bigNumber?: 4
    case .string?: 5
    case .array?: 6
    case .object?: 7
    }
  }

  private static func compare(_ left: JSONValue?, _ right: JSONValue?) -> Int {
    if rank(left) != rank(right) { return rank(left) - rank(right) }
    func number(_ value: JSONValue?) -> Double {
      switch value {
      case .int(let number)?: Double(number)
      case .double(let number)?: number
      default: 0
      }
    }
    if rank(left) == 4 { return number(left) < number(right) ? -1 : number(left) > number(right) ? 1 : 0 }
    if case .string(let one)? = left, case .string(let two)? = right {
      let (one, two) = (Array(one.utf8), Array(two.utf8))
      return one == two ? 0 : one.lexicographicallyPrecedes(two) ? -1 : 1
    }
    return 0
  }
}
