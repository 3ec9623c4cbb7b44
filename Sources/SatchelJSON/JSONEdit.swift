/// An edit as a backend sends it: what to do, where, and to which elements.
public struct JSONEdit: Sendable {
  /// What an edit does with the value at its target.
  public enum Operation: String, Sendable, CaseIterable {
    /// Deep merge.
    case merge
    /// To the end of an array.
    case append
    /// Elements of an array that hold all of `match`.
    case remove
    /// JSON Merge Patch, RFC 7396.
    case mergePatch = "merge_patch"
    /// JSON Patch, RFC 6902.
    case patch
  }

  /// What to do.
  public let operation: Operation
  /// Where; the empty path is the whole value.
  public let target: JSONPath
  /// For `remove`, what an element must hold to go; else empty.
  public let match: JSONObject

  /// Reads an edit.
  ///
  /// - Parameter config: null, or an object with `operation` ("merge" when absent), `target_path` (the whole when
  ///   absent) and `match` (for "remove", a non-empty object). Null counts as absent; other keys are ignored.
  /// - Throws: `JSONError` naming the key.
  public init(config: JSONValue) throws {
    var members = JSONObject()
    switch config {
    case .null: break
    case .object(let object): members = object
    default: throw JSONError("the config is \(config.kind), not an object", pointer: "")
    }
    operation = try JSONEdit.operation(members["operation"] ?? .null)
    target = try JSONEdit.target(members["target_path"] ?? .null)
    match = try JSONEdit.match(members["match"] ?? .null)
    if operation == .remove, match.isEmpty {
      throw JSONError("\"remove\" needs a \"match\" that is not empty", pointer: "/match")
    }
  }

  /// The edited value.
  ///
  /// - Throws: `JSONError` naming the component, for a target that the operation cannot work on, a result of more
  ///   than 512 levels, or a JSON Patch that does not apply.
  public func apply(to existing: JSONValue, new: JSONValue) throws -> JSONValue {
    var result = existing
    switch operation {
    case .merge:
      try new.checkDepth(inside: target.components.count)
      try result.modify(at: target) { $0 = try ($0 ?? .null).merging(new) }
    case .mergePatch:
      try new.checkDepth(inside: target.components.count)
      try result.modify(at: target) { $0 = try ($0 ?? .null).mergePatched(by: new) }
    case .append:
      try append(new, to: &result)
    case .remove:
      try remove(from: &result)
    case .patch:
      let patch = try JSONPatch(json: new)
      try result.modify(at: target) { value in
        let patched = try patch.apply(to: value ?? .null)
        if value != nil || !patched.isNull { value = patched }
      }
      try result.checkDepth(inside: 0)
    }
    return result
  }

  private func append(_ new: JSONValue, to result: inout JSONValue) throws {
    let level = target.components.count
    if case .array = new { try new.checkDepth(inside: level) } else { try new.checkDepth(inside: level + 1) }
    try result.modify(at: target) { value in
      let existing = value ?? .null
      value = nil
      // A value that is no array moves one level down.
      if case .object = existing { try existing.checkDepth(inside: level + 1) }
      value = existing.appending(new)
    }
  }

  private func remove(from result: inout JSONValue) throws {
    switch try result.value(at: target) {
    case nil, .null?: return
    case .array(var elements)?:
      elements.removeAll { $0.holds(match) }
      try result.modify(at: target) { $0 = .array(elements) }
    case let other?:
      throw JSONError("the target is \(other.kind), not an array", pointer: target.pointer)
    }
  }

  private static func operation(_ value: JSONValue) throws -> Operation {
    switch value {
    case .null: return .merge
    case .string(let name):
      guard let operation = Operation(rawValue: name) else {
        throw JSONError("\"\(name)\" is no operation", pointer: "/operation")
      }
      return operation
    default: throw JSONError("\"operation\" is \(value.kind), not a string", pointer: "/operation")
    }
  }

  private static func target(_ value: JSONValue) throws -> JSONPath {
    switch value {
    case .null: return try JSONPath("")
    case .string(let text):
      do {
        return try JSONPath(text)
      } catch let error as JSONError {
        throw JSONError(error.reason, pointer: "/target_path")
      }
    default: throw JSONError("\"target_path\" is \(value.kind), not a string", pointer: "/target_path")
    }
  }

  private static func match(_ value: JSONValue) throws -> JSONObject {
    switch value {
    case .null: return JSONObject()
    case .object(let object): return object
    default: throw JSONError("\"match\" is \(value.kind), not an object", pointer: "/match")
    }
  }
}
