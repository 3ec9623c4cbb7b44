import SatchelJSON

/// What an app changed in a value that it has decoded from a document, laid over that document: members that the
/// value's type does not have stay, and so does whatever the app has not changed.
struct DocumentChange {
  /// - Parameters:
  ///   - stored: the document
  ///   - before: the value as it was decoded from the document, encoded
  ///   - after: the value now, encoded
  static func applied(to stored: JSONValue, before: JSONValue, after: JSONValue) -> JSONValue {
    // Without a change, the document's own representation stays.
    if before == after { return stored }
    switch (stored, before, after) {
    case (.object(let stored), .object(let before), .object(let after)):
      return .object(members(stored, before, after))
    case (.array(let stored), .array(let before), .array(let after)) where stored.count == before.count:
      return .array(elements(stored, before, after))
    default: return after
    }
  }

  private static func members(_ stored: JSONObject, _ before: JSONObject, _ after: JSONObject) -> JSONObject {
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

  /// Finds for each element the one that it was: first equal ones, then those with the same first member.
  private static func elements(
    _ stored: [JSONValue], _ before: [JSONValue], _ after: [JSONValue]
  ) -> [JSONValue] {
    var result = after
    var free = Array(before.indices)
    var rest = Array(after.indices)
    for key in [{ try? $0.serialized() }, firstMember] as [(JSONValue) -> [UInt8]?] {
      var places: [[UInt8]: [Int]] = [:]
      for index in free.reversed() {
        if let key = key(before[index]) { places[key, default: []].append(index) }
      }
      var (taken, waiting) = (Set<Int>(), [Int]())
      for index in rest {
        guard let key = key(after[index]), let place = places[key]?.popLast() else {
          waiting.append(index)
          continue
        }
        taken.insert(place)
        result[index] = applied(to: stored[place], before: before[place], after: after[index])
      }
      free.removeAll(where: taken.contains)
      rest = waiting
    }
    return result
  }

  /// The value of an object's first member, which tells the values of a type apart most often.
  private static func firstMember(_ value: JSONValue) -> [UInt8]? {
    guard case .object(let members) = value, let first = members.first else { return nil }
    return try? JSONValue.array([.string(first.key), first.value]).serialized()
  }
}
