import SatchelJSON

extension RecordMigration: JSONConvertible {
  /// Reads a declaration: a list of steps, "callback", or {"callback": {"inverse": bool}}.
  ///
  /// - Parameters:
  ///   - json: [{"rename": {"from", "to"}} | {"move": {"from", "to"}} | {"default": {"path", "value"}} |
  ///     {"remove": {"path"}} | {"convert": {"path", "to", "from" (optional)}}]
  ///   - callback: the host's function for "callback"
  /// - Throws: `JSONError` with the pointer in `json`.
  package init(json: JSONValue, callback: RecordCallback.Body? = nil) throws {
    switch json {
    case .string("callback"): self = .callback(RecordCallback(callback))
    case .array(let elements):
      self = .steps(
        try elements.enumerated().map { index, element in
          try inside(String(index)) { try MigrationStep(json: element) }
        })
    case .object(let members):
      guard members.keys == ["callback"], case .object(let options)? = members["callback"],
        options.allSatisfy({ $0.key == "inverse" && $0.value.boolValue != nil })
      else { throw JSONError("an object here is {\"callback\": {\"inverse\": boolean}}", pointer: "") }
      let hasInverse = options["inverse"]?.boolValue ?? false
      self = .callback(RecordCallback(hasInverse: hasInverse, callback))
    default:
      throw JSONError(
        "must be a list of steps, \"callback\" or {\"callback\": {\"inverse\": boolean}}", pointer: "")
    }
  }

  /// Reads the migrations of a declaration.
  ///
  /// - Parameter pointer: the pointer of `json`, for errors
  package static func list(
    _ json: JSONValue, at pointer: String, callback: RecordCallback.Body?
  ) throws -> [RecordMigration] {
    guard case .array(let elements) = json else { throw JSONError("must be an array", pointer: pointer) }
    return try elements.enumerated().map { position, element in
      do {
        return try RecordMigration(json: element, callback: callback)
      } catch var error as JSONError {
        error.pointer = "\(pointer)/\(position)" + (error.pointer ?? "")
        throw error
      }
    }
  }

  /// The declaration; `init(json:callback:)` reads it.
  public var json: JSONValue {
    switch self {
    case .callback(let callback):
      callback.hasInverse ? ["callback": ["inverse": true]] : "callback"
    case .steps(let steps): .array(steps.map(\.json))
    }
  }
}

extension MigrationStep: JSONConvertible {
  /// Reads a step; see `RecordMigration.init(json:callback:)`.
  package init(json: JSONValue) throws {
    guard case .object(let object) = json, object.count == 1, let (name, value) = object.first else {
      throw JSONError("a step is an object with one member, its name", pointer: "")
    }
    self = try inside(name) {
      guard case .object(let members) = value else {
        throw JSONError("\(value.kind), not an object", pointer: "")
      }
      return try MigrationStep(name, members)
    }
  }

  private init(_ name: String, _ members: JSONObject) throws {
    let known: Set<String>
    switch name {
    case "rename":
      known = ["from", "to"]
      let (from, to) = try Self.paths(members)
      guard
        from.components.dropLast().elementsEqual(to.components.dropLast(), by: { $0.hasSameBytes(as: $1) })
      else { throw JSONError("is in another object; use \"move\" for this", pointer: "/to") }
      self = .rename(from: from, to: to)
    case "move":
      known = ["from", "to"]
      let (from, to) = try Self.paths(members)
      self = .move(from: from, to: to)
    case "default":
      known = ["path", "value"]
      guard let value = members["value"] else { throw JSONError("is missing", pointer: "/value") }
      self = .setDefault(path: try Self.path("path", members), value: value)
    case "remove":
      known = ["path"]
      self = .remove(path: try Self.path("path", members))
    case "convert":
      known = ["path", "to", "from"]
      guard let kind = try Self.kind("to", members) else { throw JSONError("is missing", pointer: "/to") }
      self = .convert(path: try Self.path("path", members), to: kind, from: try Self.kind("from", members))
    default:
      throw JSONError("unknown step; the steps are rename, move, default, remove and convert", pointer: "")
    }
    if let unknown = members.keys.first(where: { !known.contains($0) }) {
      throw JSONError("is unknown", pointer: JSONPath.pointer([unknown]))
    }
  }

  /// The step as JSON; `init(json:)` reads it.
  public var json: JSONValue {
    switch self {
    case .rename(let from, let to): ["rename": ["from": .string(from.pointer), "to": .string(to.pointer)]]
    case .move(let from, let to): ["move": ["from": .string(from.pointer), "to": .string(to.pointer)]]
    case .setDefault(let path, let value): ["default": ["path": .string(path.pointer), "value": value]]
    case .remove(let path): ["remove": ["path": .string(path.pointer)]]
    case .convert(let path, let kind, nil):
      ["convert": ["path": .string(path.pointer), "to": .string(kind.rawValue)]]
    case .convert(let path, let kind, let from?):
      [
        "convert": [
          "path": .string(path.pointer), "to": .string(kind.rawValue), "from": .string(from.rawValue),
        ]
      ]
    }
  }

  private static func paths(_ members: JSONObject) throws -> (from: JSONPath, to: JSONPath) {
    let from = try path("from", members)
    let to = try path("to", members)
    let isInside = zip(from.components, to.components).allSatisfy { $0.hasSameBytes(as: $1) }
    guard !isInside else {
      throw JSONError("\"from\" and \"to\" must differ, and neither may contain the other", pointer: "/to")
    }
    return (from, to)
  }

  private static func path(_ key: String, _ members: JSONObject) throws -> JSONPath {
    try inside(key) {
      guard let value = members[key] else { throw JSONError("is missing", pointer: "") }
      guard case .string(let text) = value else { throw JSONError("\(value.kind), not a path", pointer: "") }
      let path: JSONPath
      do {
        path = try JSONPath(text)
      } catch let error as JSONError {
        throw JSONError(error.reason, pointer: "")
      }
      guard !path.components.isEmpty else { throw JSONError("the path is empty", pointer: "") }
      return path
    }
  }

  private static func kind(_ key: String, _ members: JSONObject) throws -> MigrationKind? {
    guard let value = members[key] else { return nil }
    guard let kind = value.stringValue.flatMap({ MigrationKind(rawValue: $0) }) else {
      let names = MigrationKind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw JSONError("must be one of \(names)", pointer: "/\(key)")
    }
    return kind
  }
}

/// Prefixes the pointers of errors with a key.
private func inside<Result>(_ key: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch var error as JSONError {
    error.pointer = JSONPath.pointer([key]) + (error.pointer ?? "")
    throw error
  }
}
