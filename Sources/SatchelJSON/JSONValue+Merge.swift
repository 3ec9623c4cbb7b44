extension JSONValue {
  /// Returns the deep merge with a new value: objects are merged recursively, all other values (including
  /// arrays and null) are replaced by the new ones.
  ///
  /// - Throws: `JSONError` when the objects to merge are nested more than 512 levels deep
  public func merging(_ new: JSONValue) throws -> JSONValue {
    var result = self
    try result.merge(new, level: 1)
    return result
  }

  /// Applies a JSON Merge Patch (RFC 7396): like a merge, but a null in the patch removes the member.
  ///
  /// - Throws: `JSONError` when the patch is nested more than 512 levels deep
  public func mergePatched(by patch: JSONValue) throws -> JSONValue {
    var result = self
    try result.mergePatch(patch, level: 1)
    return result
  }

  /// Returns the array with the new value appended: an array's elements one by one, any other value as one
  /// element. Null counts as an empty array; a value that is not an array becomes the first element.
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

  /// Whether this is an object that contains every key of `match` with an equal value.
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
    // In one pass, because each single removal would move all following members.
    if removed { object.removeAll { key, _ in changes[key]?.isNull == true } }
    self = .object(object)
  }
}
