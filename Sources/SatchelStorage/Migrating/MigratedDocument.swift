import SatchelJSON

/// A document during its migration.
struct MigratedDocument {
  private var document: JSONValue
  /// The values that the steps keep to migrate back; while migrating back, those that were kept.
  private(set) var kept: [KeptValue]

  init(_ document: JSONObject, kept: [KeptValue] = []) {
    self.document = .object(document)
    self.kept = kept
  }

  /// Returns the migrated document.
  func finish() throws -> JSONObject {
    guard document.depth <= JSONValue.maximumDepth, case .object(let members) = document else {
      throw JSONError(
        "the document would have more than \(JSONValue.maximumDepth) levels", limit: JSONValue.maximumDepth)
    }
    return members
  }

  mutating func keep(_ value: JSONValue?, at pointer: String, number: Int) {
    kept.append(KeptValue(step: number, pointer: pointer, value: value))
  }

  func kept(at pointer: String, number: Int) -> KeptValue? {
    kept.first { $0.step == number && $0.pointer.hasSameBytes(as: pointer) }
  }

  /// Returns the value at a path; nil when it does not exist.
  func value(at path: JSONPath) throws -> JSONValue? { try reach(path).value }

  /// Removes the value at a path and returns it; nil when it does not exist.
  mutating func remove(_ path: JSONPath) throws -> JSONValue? {
    guard let value = try value(at: path) else { return nil }
    try document.modify(at: path) { $0 = nil }
    return value
  }

  mutating func replace(_ path: JSONPath, with value: JSONValue) throws {
    try document.modify(at: path) { $0 = value }
  }

  /// Inserts a value that does not exist yet. Missing parent objects are created, and recorded if `number` is
  /// given.
  mutating func put(_ value: JSONValue, at path: JSONPath, number: Int?) throws {
    let reached = try reach(path)
    if let number, reached.count < path.components.count {
      let createdParent = JSONPath.pointer(path.components.prefix(reached.count))
      keep(reached.isNull ? .null : nil, at: createdParent, number: number)
    }
    try document.modify(at: path) { $0 = value }
  }

  /// Moves a value if there is one.
  ///
  /// - Throws: `JSONError` when the target already has a value, because one of the two would be lost.
  mutating func move(from: JSONPath, to: JSONPath, number: Int?) throws {
    let isOccupied = try value(at: to) != nil
    guard let value = try value(at: from) else {
      if isOccupied, let number { keep(nil, at: from.pointer, number: number) }
      return
    }
    guard !isOccupied else { throw JSONError("there is already a value", pointer: to.pointer) }
    // Inserted first, because inserting can fail.
    try put(value, at: to, number: number)
    _ = try remove(from)
  }

  /// Removes parent objects that a step created, unless they have got other members.
  mutating func removeMadeParents(of path: JSONPath, number: Int) throws {
    for count in 1..<max(path.components.count, 1) {
      let pointer = JSONPath.pointer(path.components.prefix(count))
      guard let createdParent = kept(at: pointer, number: number) else { continue }
      let parent = try JSONPath(pointer: pointer)
      guard let value = try value(at: parent), Self.isEmptyNesting(value) else { return }
      try document.modify(at: parent) { $0 = createdParent.value }
      return
    }
  }

  /// Returns whether a value consists only of nested objects without other members.
  private static func isEmptyNesting(_ value: JSONValue) -> Bool {
    var value = value
    while case .object(let members) = value {
      guard let first = members.first else { return true }
      guard members.count == 1 else { return false }
      value = first.value
    }
    return false
  }

  /// Follows a path: returns its value, or the number of components up to the first that is missing or null.
  private func reach(_ path: JSONPath) throws -> (value: JSONValue?, count: Int, isNull: Bool) {
    var reached = document
    for (index, component) in path.components.enumerated() {
      switch reached {
      case .null: return (nil, index, true)
      case .object(let members):
        guard let member = members[component] else { return (nil, index + 1, false) }
        reached = member
      default:
        throw JSONError(
          "this is \(reached.kind), not an object, so it has no \"\(component)\"",
          pointer: JSONPath.pointer(path.components.prefix(index)))
      }
    }
    return (reached, path.components.count, false)
  }
}

/// A value that a migration step removed or replaced, kept to migrate back.
package struct KeptValue: Sendable, Equatable {
  /// The index of the step in its migration.
  package let step: Int
  /// The JSON Pointer of the value.
  package let pointer: String
  /// The previous value; nil when there was none.
  package let value: JSONValue?

  init(step: Int, pointer: String, value: JSONValue?) {
    self.step = step
    self.pointer = pointer
    self.value = value
  }

  /// Reads a value from its `path` and `bytes`.
  ///
  /// - Throws: `JSONError` when they are invalid.
  package init(path: String, bytes: [UInt8]) throws {
    let digits = path.utf8.prefix { $0 != UInt8(ascii: "/") }
    guard let step = Int(Substring(digits)), step >= 0 else {
      throw JSONError("\"\(path)\" is not the path of a kept value")
    }
    self.step = step
    pointer = String(Substring(path.utf8.dropFirst(digits.count)))
    value = bytes.isEmpty ? nil : try JSONValue(parsing: bytes)
  }

  /// Step and pointer as one string, unique among the kept values of one record and version.
  package var path: String { "\(step)\(pointer)" }

  /// Returns the value as JSON; empty for no value.
  package func bytes() throws -> [UInt8] { try value?.serialized() ?? [] }
}
