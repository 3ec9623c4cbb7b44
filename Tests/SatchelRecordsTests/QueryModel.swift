import SatchelJSON

import SatchelDocuments

/// Records in memory, and what queries of them give, without indexes, keys or a planner.
struct QueryModel {
  private var order: [String] = []
  private var documents: [String: JSONObject] = [:]
  /// What the texts of typed paths stand for: the kind of value, and its place among those of its kind.
  private let meanings: [String: [String: (kind: Int, place: Double)]]

  init(_ meanings: [String: [String: (kind: Int, place: Double)]] = [:]) { self.meanings = meanings }

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
          let order = compare(one, two, part.path)
          if order != 0 { return (order < 0) != part.isDescending }
        }
        return positions[left, default: 0] < positions[right, default: 0]
      }
    }
    let rest = found.dropFirst(query.offset)
    return Array(query.limit.map { rest.prefix($0) } ?? rest)
  }

  func counts(_ filter: RecordFilter?, by path: String) -> [String: Int] {
    matching(filter).reduce(into: [:]) { $0[name(value($1, path), path), default: 0] += 1 }
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
  func name(_ value: JSONValue?, _ path: String) -> String {
    if let text = value?.stringValue, let meaning = meanings[path]?[text] {
      return "\(meaning.kind) \(meaning.place)"
    }
    return switch value {
    case nil, .null?: "null"
    case .int(let number)?: "4 \(Double(number))"
    case .double(let number)?: "4 \(number)"
    case .string(let text)?: "\"\(text)\""
    case let value?: "\(value)"
    }
  }

  private func matching(_ filter: RecordFilter?) -> [String] {
    order.filter { id in filter.map { matches(id, $0) } ?? true }
  }

  private func value(_ id: String, _ path: String) -> JSONValue? {
    if path == "@id" { return .string(id) }
    if let open = path.firstIndex(of: "(") {
      let inner = self.value(id, String(path[path.index(after: open)...].dropLast()))
      switch (path[..<open], inner) {
      case ("length", .array(let elements)?): return .int(Int64(elements.count))
      case ("length", .string(let text)?): return .int(Int64(text.unicodeScalars.count))
      case ("first", .array(let elements)?): return elements.first
      case ("lower", .string(let text)?): return .string(text.lowercased())
      case ("lower", _): return inner
      default: return nil
      }
    }
    var value: JSONValue? = .object(documents[id] ?? [:])
    for name in path.split(separator: ".") { value = value?[String(name)] }
    return value
  }

  private func matches(_ id: String, _ filter: RecordFilter) -> Bool {
    switch filter {
    case .all(let parts): return parts.allSatisfy { matches(id, $0) }
    case .any(let parts): return parts.contains { matches(id, $0) }
    case .not(let part): return !matches(id, part)
    case .field(let path, .notEquals(let value)) where path.contains("[*]"):
      return !matches(id, .field(path, .equals(value)))
    case .field(let path, let test):
      guard path.contains("[*]") else { return matches(value(id, path), test, path) }
      let elements = elements(id, path)
      if case .exists(let wanted) = test { return elements.isEmpty != wanted }
      return elements.contains { matches($0, test, path) }
    }
  }

  private func elements(_ id: String, _ path: String) -> [JSONValue] {
    let parts = path.split(separator: ".")
    guard let array = parts.first?.dropLast(3), case .array(let elements)? = value(id, String(array)) else {
      return []
    }
    return parts.count == 1 ? elements : elements.compactMap { $0[String(parts[1])] }
  }

  private func matches(_ value: JSONValue?, _ test: RecordTest, _ path: String) -> Bool {
    func ranged(_ bound: JSONValue, _ holds: (Int) -> Bool) -> Bool {
      guard let value, rank(value, path) == rank(bound, path) else { return false }
      return holds(compare(value, bound, path))
    }
    func equals(_ other: JSONValue) -> Bool {
      value != nil && compare(value, other, path) == 0
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

  private func rank(_ value: JSONValue?, _ path: String) -> Int {
    if let text = value?.stringValue, let meaning = meanings[path]?[text] { return meaning.kind }
    return switch value {
    case nil: 0
    case .null?: 1
    case .bool(false)?: 2
    case .bool(true)?: 3
    case .int?, .double?, .bigNumber?: 4
    case .string?: 6
    case .array?: 7
    case .object?: 8
    }
  }

  private func compare(_ left: JSONValue?, _ right: JSONValue?, _ path: String) -> Int {
    if rank(left, path) != rank(right, path) { return rank(left, path) - rank(right, path) }
    func number(_ value: JSONValue?) -> Double? {
      if let text = value?.stringValue { return meanings[path]?[text]?.place }
      return switch value {
      case .int(let number)?: Double(number)
      case .double(let number)?: number
      default: nil
      }
    }
    if let left = number(left), let right = number(right) { return left < right ? -1 : left > right ? 1 : 0 }
    if case .string(let one)? = left, case .string(let two)? = right {
      let (one, two) = (Array(one.utf8), Array(two.utf8))
      return one == two ? 0 : one.lexicographicallyPrecedes(two) ? -1 : 1
    }
    return 0
  }
}
