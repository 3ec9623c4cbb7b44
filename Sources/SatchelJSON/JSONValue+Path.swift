extension JSONValue {
  /// Returns the value at a path; nil when it is absent. A null on the path counts as an empty object.
  ///
  /// - Throws: `JSONError` with the pointer of the component when the path leads through a value without
  ///   members
  public func value(at path: JSONPath) throws -> JSONValue? {
    let trace = try trace(path)
    return trace.positions.count == path.components.count ? trace.reached : nil
  }

  /// Returns the value at a path given as a string; see `JSONPath`.
  public func value(at path: String) throws -> JSONValue? { try value(at: JSONPath(path)) }

  /// Modifies the value at a path.
  ///
  /// Objects on the path that are missing or null are created, unless `body` leaves the value nil. If `body`
  /// sets an existing value to nil, it is removed; the root becomes null instead.
  ///
  /// - Parameter body: called with the value, nil when it is absent
  /// - Throws: `JSONError` with the pointer of the component when the path leads through a value without
  ///   members, or to an element beyond an array's end (nothing is changed then), and the errors of `body`
  public mutating func modify(at path: JSONPath, _ body: (inout JSONValue?) throws -> Void) throws {
    var taken = try TakenPath(&self, path)
    // Also after an error, the containers are moved back.
    let outcome = Result { try body(&taken.leaf) }
    self = taken.restored()
    try outcome.get()
  }

  /// A value at a path that was moved out of its containers, so that a change of it does not copy them.
  private struct TakenPath {
    /// Nil when it is absent.
    var leaf: JSONValue?
    private var parents: [(container: JSONValue, position: Int)] = []
    private var current: JSONValue
    private let missing: ArraySlice<String>

    init(_ value: inout JSONValue, _ path: JSONPath) throws {
      let positions = try value.positionsToModify(path)
      current = value.moved()
      for position in positions {
        let child = current.takeChild(at: position)
        parents.append((current.moved(), position))
        current = child
      }
      missing = path.components.dropFirst(positions.count)
      if missing.isEmpty { leaf = current.moved() }
    }

    /// Moves the containers back.
    mutating func restored() -> JSONValue {
      if let key = missing.first {
        if let leaf { current.setMember(key, JSONValue.wrap(leaf, in: missing.dropFirst())) }
        leaf = current.moved()
      }
      while var parent = parents.popLast() {
        parent.container.putChild(leaf, at: parent.position)
        leaf = parent.container.moved()
      }
      return leaf ?? .null
    }
  }

  /// Modifies the value at a path given as a string; see `JSONPath`.
  public mutating func modify(at path: String, _ body: (inout JSONValue?) throws -> Void) throws {
    try modify(at: JSONPath(path), body)
  }

  /// Follows a path as far as it exists: returns the position of each component in its container, and the
  /// last value.
  private func trace(_ path: JSONPath) throws -> (positions: [Int], reached: JSONValue) {
    var positions: [Int] = []
    var reached = self
    for component in path.components {
      switch reached {
      case .null: return (positions, reached)
      case .object(let object):
        guard let position = object.position(of: component) else { return (positions, reached) }
        positions.append(position)
        reached = object.members[position].value
      case .array(let elements) where path.isPointer:
        guard component != "-" else { return (positions, reached) }
        guard let position = JSONPath.arrayIndex(component) else {
          throw path.failure("\"\(component)\" is not an array index", after: positions.count + 1)
        }
        guard position < elements.count else { return (positions, reached) }
        positions.append(position)
        reached = elements[position]
      default:
        let name = positions.isEmpty ? "the value" : "\"\(path.components[positions.count - 1])\""
        throw path.failure(
          "\(name) is \(reached.kind), not an object, so it has no \"\(component)\"", after: positions.count)
      }
    }
    return (positions, reached)
  }

  private func positionsToModify(_ path: JSONPath) throws -> [Int] {
    let (positions, reached) = try trace(path)
    if positions.count < path.components.count, case .array(let elements) = reached {
      let component = path.components[positions.count]
      throw path.failure(
        "\"\(component)\" is beyond the array's end (\(elements.count) elements)", after: positions.count + 1)
    }
    return positions
  }

  private mutating func takeChild(at position: Int) -> JSONValue {
    if var object = movedObject() {
      let child = object.take(at: position)
      self = .object(object)
      return child
    }
    guard var elements = movedArray() else { return .null }
    let child = elements[position]
    elements[position] = .null
    self = .array(elements)
    return child
  }

  private mutating func putChild(_ child: JSONValue?, at position: Int) {
    if var object = movedObject() {
      if let child { object.put(child, at: position) } else { object.removeMember(at: position) }
      self = .object(object)
    } else if var elements = movedArray() {
      if let child { elements[position] = child } else { elements.remove(at: position) }
      self = .array(elements)
    }
  }

  /// Sets a member; a value that is not an object (a null on the path) becomes one.
  private mutating func setMember(_ key: String, _ value: JSONValue) {
    var object = movedObject() ?? JSONObject()
    object[key] = value
    self = .object(object)
  }

  private static func wrap(_ value: JSONValue, in keys: ArraySlice<String>) -> JSONValue {
    keys.reversed().reduce(value) { .object([$1: $0]) }
  }
}

extension JSONPath {
  /// Creates an error about the value that the first `count` components lead to.
  func failure(_ reason: String, after count: Int) -> JSONError {
    JSONError(reason, pointer: JSONPath.pointer(components.prefix(count)))
  }
}
