/// Values are changed in place only while they have one owner: else Swift copies a whole container for each change.
/// A pattern such as `case .object(var object) = self` makes a second owner (measured); these do not.
extension JSONValue {
  /// Gives the value away and leaves null.
  mutating func moved() -> JSONValue {
    var value = JSONValue.null
    swap(&self, &value)
    return value
  }

  /// Gives the members away and leaves null; nil, and leaves the value, when it is no object.
  @inline(never)
  mutating func movedObject() -> JSONObject? {
    guard case .object(let object) = self else { return nil }
    self = .null
    return object
  }

  /// Gives the elements away and leaves null; nil, and leaves the value, when it is no array.
  @inline(never)
  mutating func movedArray() -> [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    self = .null
    return elements
  }
}
