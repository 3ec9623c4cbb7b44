/// An edit of a JSON value as a backend sends it: an operation, a target path, and a match for `remove`.
public struct JSONEdit: Sendable {
  /// The operation on the value at the target.
  public enum Operation: String, Sendable, CaseIterable {
    /// Deep merge.
    case merge
    /// Appends to an array.
    case append
    /// Removes the elements of an array that contain all members of `match`.
    case remove
    /// JSON Merge Patch, RFC 7396.
    case mergePatch = "merge_patch"
    /// JSON Patch, RFC 6902.
    case patch
  }

  /// The members of a config that are options of an edit.
  public static let options = ["operation", "target_path", "match"]

  /// The operation.
  public let operation: Operation
  /// The path of the value to edit; the empty path is the whole value.
  public let target: JSONPath
  /// For `remove`, the members that an element must contain to be removed; otherwise empty.
  public let match: JSONObject

  /// Parses an edit.
  ///
  /// - Parameter config: null, or an object with `operation` (default: "merge"), `target_path` (default: the
  ///   whole value) and `match` (for "remove", a non-empty object). Null counts as absent; other keys are
  ///   ignored.
  /// - Throws: `JSONError` with the pointer of the invalid key
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
      throw JSONError("\"remove\" requires a non-empty \"match\"", pointer: "/match")
    }
  }

  /// Returns the edited value.
  ///
  /// - Throws: `JSONError` with the pointer of the component, for a target to which the operation is not
  ///   applicable, a result of more than 512 levels, or a JSON Patch that cannot be applied
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
      // A value that is not an array becomes an element, one level deeper.
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
        throw JSONError("unknown operation \"\(name)\"", pointer: "/operation")
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
