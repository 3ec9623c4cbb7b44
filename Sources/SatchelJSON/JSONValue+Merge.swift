extension JSONValue {
  /// Deep merge: objects merge, new values win, a null is stored as null, anything else (arrays too) is replaced.
  ///
  /// - Throws: `JSONError` when the objects to merge are nested more than 512 levels deep.
  public func merging(_ new: JSONValue) throws -> JSONValue {
    var result = self
    try result.merge(new, level: 1)
    return result
  }

  /// JSON Merge Patch (RFC 7396): as a merge, but a null in the patch removes the member.
  ///
  /// - Throws: `JSONError` when the patch is nested more than 512 levels deep.
  public func mergePatched(by patch: JSONValue) throws -> JSONValue {
    var result = self
    try result.mergePatch(patch, level: 1)
    return result
  }

  /// The array with a value at its end: the items of an array one by one, any other value as one item. Null
  /// counts as an empty array; a value that is no array becomes the first element.
  public func appending(_ new: JSONValue) -> JSONValue {
    var elements: [JSONValue]
    switch self {
    case .null: elements = []
    case .array(let existing): elements = existing
    default: elements = [self]
    }
    if case .array(let items) = new { elements.append(contentsOf: items) } else { elements.append(new) }
    return .array(elements)
  }

  /// Whether it is an object that holds every key of `match` with an equal value.
  func holds(_ match: JSONObject) -> Bool {
    guard case .object(let object) = self else { return false }
    return match.allSatisfy { object[$0.key] == $0.value }
  }

  private mutating func merge(_ new: JSONValue, level: Int) throws {
    guard case .object(let changes) = new, var object = movedObject() else {
      self = new
      return
    }
    guard level <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
    for (key, change) in changes.members {
      if let position = object.position(of: key) {
        var value = object.take(at: position)
        try value.merge(change, level: level + 1)
        object.put(value, at: position)
      } else {
        object[key] = change
      }
    }
    self = .object(object)
  }

  private mutating func mergePatch(_ patch: JSONValue, level: Int) throws {
    guard case .object(let changes) = patch else {
      self = patch
      return
    }
    guard level <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
    var object = movedObject() ?? JSONObject()
    var removed = false
    for (key, change) in changes.members {
      if change.isNull {
        removed = true
      } else if let position = object.position(of: key) {
        var value = object.take(at: position)
        try value.mergePatch(change, level: level + 1)
        object.put(value, at: position)
      } else {
        var value = JSONValue.null
        try value.mergePatch(change, level: level + 1)
        object[key] = value
      }
    }
    // All at once: one by one, each removal would move the members behind it.
    if removed { object.removeAll { key, _ in changes[key]?.isNull == true } }
    self = .object(object)
  }
}
