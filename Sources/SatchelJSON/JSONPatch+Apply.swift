extension JSONPatch.Operation {
  var name: String {
    switch self {
    case .add: return "add"
    case .remove: return "remove"
    case .replace: return "replace"
    case .move: return "move"
    case .copy: return "copy"
    case .test: return "test"
    }
  }

  /// The target location.
  var path: JSONPath {
    switch self {
    case .add(let path, _), .remove(let path), .replace(let path, _), .test(let path, _): return path
    case .move(_, let path), .copy(_, let path): return path
    }
  }

  func apply(to value: inout JSONValue, budget: inout Int) throws {
    switch self {
    case .add(let path, let new):
      try new.checkDepth(inside: path.components.count)
      try Self.add(new, at: path, to: &value)
    case .remove(let path):
      try value.modify(at: path) { target in
        guard target != nil else { throw path.missingValue }
        target = nil
      }
    case .replace(let path, let new):
      try new.checkDepth(inside: path.components.count)
      try value.modify(at: path) { target in
        guard target != nil else { throw path.missingValue }
        target = new
      }
    case .move(let from, let path):
      try move(from, to: path, in: &value)
    case .copy(let from, let path):
      guard let source = try value.value(at: from) else { throw from.missingValue }
      let depth = source.measure(&budget)
      guard budget >= 0 else { throw JSONError("the patch copies more than \(JSONPatch.copyLimit) bytes") }
      guard path.components.count + depth <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
      try Self.add(source, at: path, to: &value)
    case .test(let path, let expected):
      guard let actual = try value.value(at: path) else { throw path.missingValue }
      // RFC 6902 compares numbers by value: 1 equals 1.0.
      guard JSONValue.equal(actual, expected, numerically: true) else {
        throw JSONError("the test failed: the value is not the expected one", pointer: path.pointer)
      }
    }
  }

  private func move(_ from: JSONPath, to path: JSONPath, in value: inout JSONValue) throws {
    guard let source = try value.value(at: from) else { throw from.missingValue }
    guard path.begins(with: from) else {
      try source.checkDepth(inside: path.components.count)
      try value.modify(at: from) { $0 = nil }
      return try Self.add(source, at: path, to: &value)
    }
    guard path.components.count == from.components.count else {
      throw JSONError("a value cannot be moved into itself", pointer: path.pointer)
    }
  }

  private static func add(_ new: JSONValue, at path: JSONPath, to value: inout JSONValue) throws {
    guard let parent = path.parent, let key = path.components.last else {
      value = new
      return
    }
    try value.modify(at: parent) { container in
      guard var target = container else { throw parent.missingValue }
      // The container is moved, not shared, so that the insertion does not copy it.
      container = nil
      defer { container = target }
      if var object = target.movedObject() {
        object[key] = new
        target = .object(object)
      } else if var elements = target.movedArray() {
        defer { target = .array(elements) }
        elements.insert(new, at: try index(key, path, count: elements.count))
      } else {
        throw JSONError("\"\(key)\" cannot be added to \(target.kind)", pointer: parent.pointer)
      }
    }
  }

  /// Returns the array index at which a component inserts.
  private static func index(_ component: String, _ path: JSONPath, count: Int) throws -> Int {
    guard let index = component == "-" ? count : JSONPath.arrayIndex(component) else {
      throw JSONError("\"\(component)\" is not an array index", pointer: path.pointer)
    }
    guard index <= count else {
      throw JSONError("\"\(component)\" is beyond the array's end (\(count) elements)", pointer: path.pointer)
    }
    return index
  }
}

extension JSONPath {
  /// The error for a path at which a value is required.
  fileprivate var missingValue: JSONError { JSONError("there is no value at this path", pointer: pointer) }
}
