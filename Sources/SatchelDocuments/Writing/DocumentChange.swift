import SatchelJSON

/// The changes of an app to a value that it decoded from a document, applied to that document: members that
/// the value's type does not have, and values that the app has not changed, stay.
package struct DocumentChange {
  /// - Parameters:
  ///   - stored: the document
  ///   - before: the value as it was decoded from the document, encoded
  ///   - after: the value now, encoded
  package static func applied(to stored: JSONValue, before: JSONValue, after: JSONValue) -> JSONValue {
    // Without a change, the document's own representation stays.
    if before == after { return stored }
    switch (stored, before, after) {
    case (.object(let stored), .object(let before), .object(let after)):
      return .object(members(stored, before, after: after))
    case (.array(let stored), .array(let before), .array(let after)) where stored.count == before.count:
      return .array(elements(stored, before, after: after))
    default: return after
    }
  }

  private static func members(_ stored: JSONObject, _ before: JSONObject, after: JSONObject) -> JSONObject {
    var result: JSONObject = [:]
    for (key, value) in stored {
      if let new = after[key] {
        result[key] = before[key].map { applied(to: value, before: $0, after: new) } ?? new
      } else if before[key] == nil {
        result[key] = value
      }
    }
    for (key, value) in after where stored[key] == nil { result[key] = value }
    return result
  }

  private static func elements(
    _ stored: [JSONValue], _ before: [JSONValue], after: [JSONValue]
  ) -> [JSONValue] {
    matched(after, with: before, firstMember) { applied(to: stored[$1], before: before[$1], after: $0) }
  }

  /// Matches each element with its previous version: first equal ones, then those with the same identity.
  ///
  /// - Parameter merging: returns an element with what is kept of its previous version, by its position
  static func matched(
    _ after: [JSONValue], with before: [JSONValue], _ identity: @escaping (JSONValue) -> [UInt8]?,
    merging: (JSONValue, Int) -> JSONValue
  ) -> [JSONValue] {
    var result = after
    var free = Array(before.indices)
    var rest = Array(after.indices)
    for key in [{ try? $0.serialized() }, identity] as [(JSONValue) -> [UInt8]?] {
      var positions: [[UInt8]: [Int]] = [:]
      for index in free.reversed() {
        if let key = key(before[index]) { positions[key, default: []].append(index) }
      }
      var (used, waiting) = (Set<Int>(), [Int]())
      for index in rest {
        guard let key = key(after[index]), let position = positions[key]?.popLast() else {
          waiting.append(index)
          continue
        }
        used.insert(position)
        result[index] = merging(after[index], position)
      }
      free.removeAll(where: used.contains)
      rest = waiting
    }
    return result
  }

  /// The value of an object's first member, which usually identifies the values of a type.
  private static func firstMember(_ value: JSONValue) -> [UInt8]? {
    guard case .object(let members) = value, let first = members.first else { return nil }
    return try? JSONValue.array([.string(first.key), first.value]).serialized()
  }
}
