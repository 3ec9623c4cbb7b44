/// The possible targets of references in one document.
struct JSONSchemaReferences {
  private let root: JSONSchemaLocation
  /// The schemas with an "$id", by URI.
  private var resources: [JSONKey: JSONSchemaLocation] = [:]
  /// The schemas with an "$anchor", by URI and name.
  private var anchors: [JSONKey: JSONSchemaLocation] = [:]

  init(_ document: JSONValue) throws {
    root = try JSONSchemaLocation(value: document, path: [], base: "").rebased()
    resources[JSONKey(text: "")] = root
    // Only schemas are searched, not the values of "const" or of unknown keywords.
    var pending = [root]
    while let location = pending.popLast() {
      if location.value["$id"] != nil {
        try add(location, to: &resources, as: location.base, keyword: "$id")
      }
      if let anchor = location.value["$anchor"] {
        guard case .string(let name) = anchor, Self.isName(name) else {
          throw location.failure(
            "$anchor", "an \"$anchor\" begins with a letter or _, followed by letters, digits, -, _ and .")
        }
        try add(location, to: &anchors, as: location.base + "#" + name, keyword: "$anchor")
      }
      for subschema in location.subschemas() { pending.append(try subschema.rebased()) }
    }
  }

  /// The root of the document.
  var document: JSONSchemaLocation { root }

  /// Resolves a "$ref".
  func location(of reference: String, from location: JSONSchemaLocation) throws -> JSONSchemaLocation {
    let parts = JSONURI.split(reference)
    let uri = JSONURI.resolve(parts.uri, against: location.base)
    // The document is registered under the empty URI and under its own "$id".
    guard let resource = resources[JSONKey(text: uri)] else {
      throw location.failure(
        "$ref", "\"\(reference)\" is not in this schema, and other documents are not fetched")
    }
    guard let fragment = JSONURI.unescaped(parts.fragment) else {
      throw location.failure("$ref", "\"\(reference)\" contains an invalid percent escape")
    }
    guard fragment.isEmpty || fragment.hasPrefix("/") else {
      guard let anchored = anchors[JSONKey(text: uri + "#" + fragment)] else {
        throw location.failure("$ref", "there is no \"$anchor\" named \"\(fragment)\"")
      }
      return anchored
    }
    var reached = resource
    for component in try components(fragment, location) {
      guard let next = try reached.step(component)?.rebasedIfSchema() else {
        throw location.failure("$ref", "\"\(reference)\" refers to a missing location")
      }
      reached = next
    }
    return reached
  }

  private func components(_ pointer: String, _ location: JSONSchemaLocation) throws -> [String] {
    do {
      return try JSONPath(pointer: pointer).components
    } catch let error as JSONError {
      throw location.failure("$ref", error.reason)
    }
  }

  private func add(
    _ location: JSONSchemaLocation, to table: inout [JSONKey: JSONSchemaLocation], as name: String,
    keyword: String
  ) throws {
    let key = JSONKey(text: name)
    if let known = table[key], known.path != location.path {
      throw location.failure(keyword, "\"\(name)\" is defined twice")
    }
    table[key] = location
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }
    return isLetter(first)
      && text.utf8.allSatisfy { byte in
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      }
  }
}

extension JSONSchemaLocation {
  /// Returns the location with the base URI of its "$id", if that is a string.
  fileprivate func rebasedIfSchema() throws -> JSONSchemaLocation {
    guard case .string? = value["$id"] else { return self }
    return try rebased()
  }
}
