import SatchelJSON

/// A document under way from one version to another.
struct MigratedDocument {
  private var document: JSONValue
  /// What the steps leave for the way back; on the way back, what they left.
  private(set) var kept: [KeptValue]

  init(_ document: JSONObject, kept: [KeptValue] = []) {
    self.document = .object(document)
    self.kept = kept
  }

  /// The document as it is now.
  func finish() throws -> JSONObject {
    guard document.depth <= JSONValue.maximumDepth, case .object(let members) = document else {
      throw JSONError("the document would have more than \(JSONValue.maximumDepth) levels")
    }
    return members
  }

  mutating func keep(_ value: JSONValue?, at pointer: String, number: Int) {
    kept.append(KeptValue(step: number, pointer: pointer, value: value))
  }

  func kept(at pointer: String, number: Int) -> KeptValue? {
    kept.first { $0.step == number && $0.pointer.hasSameBytes(as: pointer) }
  }

  /// The value at a path; nil when there is none.
  func value(at path: JSONPath) throws -> JSONValue? { try reach(path).value }

  /// Takes the value at a path out; nil when there is none.
  mutating func take(_ path: JSONPath) throws -> JSONValue? {
    guard let value = try value(at: path) else { return nil }
    try document.modify(at: path) { $0 = nil }
    return value
  }

  mutating func replace(_ path: JSONPath, with value: JSONValue) throws {
    try document.modify(at: path) { $0 = value }
  }

  /// Puts a value where there is none. Objects on the way are made, which is kept when there is a number.
  mutating func put(_ value: JSONValue, at path: JSONPath, number: Int?) throws {
    let reached = try reach(path)
    if let number, reached.count < path.components.count {
      let made = JSONPath.pointer(path.components.prefix(reached.count))
      keep(reached.isNull ? .null : nil, at: made, number: number)
    }
    try document.modify(at: path) { $0 = value }
  }

  /// Moves a value, if there is one.
  ///
  /// - Throws: `JSONError` when there is a value at the target already: one of both would be lost.
  mutating func move(from: JSONPath, to: JSONPath, number: Int?) throws {
    let isTaken = try value(at: to) != nil
    guard let value = try value(at: from) else {
      if isTaken, let number { keep(nil, at: from.pointer, number: number) }
      return
    }
    guard !isTaken else { throw JSONError("there is already a value", pointer: to.pointer) }
    // First, since it can fail.
    try put(value, at: to, number: number)
    _ = try take(from)
  }

  /// Removes objects that a step made to put a value there, unless others have moved in.
  mutating func removeMadeParents(of path: JSONPath, number: Int) throws {
    for count in 1..<max(path.components.count, 1) {
      let pointer = JSONPath.pointer(path.components.prefix(count))
      guard let made = kept(at: pointer, number: number) else { continue }
      let parent = try JSONPath(pointer: pointer)
      guard let value = try value(at: parent), Self.isHollow(value) else { return }
      try document.modify(at: parent) { $0 = made.value }
      return
    }
  }

  /// Whether it is nothing but objects without members, one in the other.
  private static func isHollow(_ value: JSONValue) -> Bool {
    var value = value
    while case .object(let members) = value {
      guard let first = members.first else { return true }
      guard members.count == 1 else { return false }
      value = first.value
    }
    return false
  }

  /// How far a path leads: its value, or how many components lead to the first thing that is missing or null.
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
