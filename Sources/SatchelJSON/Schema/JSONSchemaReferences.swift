/// What references of one document can lead to.
struct JSONSchemaReferences {
  private let root: JSONSchemaPlace
  /// Schemas with an "$id", by their URI.
  private var resources: [JSONKey: JSONSchemaPlace] = [:]
  /// Schemas with an "$anchor", by URI and name.
  private var anchors: [JSONKey: JSONSchemaPlace] = [:]

  init(_ document: JSONValue) throws {
    root = try JSONSchemaPlace(value: document, path: [], base: "").rebased()
    resources[JSONKey(text: "")] = root
    // The places still to look at: schemas only, not what "const" or an unknown keyword holds.
    var pending = [root]
    while let place = pending.popLast() {
      if place.value["$id"] != nil {
        try add(place, to: &resources, as: place.base, keyword: "$id")
      }
      if let anchor = place.value["$anchor"] {
        guard case .string(let name) = anchor, Self.isName(name) else {
          throw place.failure("$anchor", "an \"$anchor\" is a letter or _, and letters, digits, -, _ and .")
        }
        try add(place, to: &anchors, as: place.base + "#" + name, keyword: "$anchor")
      }
      for subschema in place.subschemas() { pending.append(try subschema.rebased()) }
    }
  }

  /// The whole document.
  var document: JSONSchemaPlace { root }

  /// Where a "$ref" leads.
  func place(of reference: String, from place: JSONSchemaPlace) throws -> JSONSchemaPlace {
    let parts = JSONURI.split(reference)
    let uri = JSONURI.resolve(parts.uri, against: place.base)
    // Without a base of its own a document is known as nothing, and as itself.
    guard let resource = resources[JSONKey(text: uri)] else {
      throw place.failure("$ref", "\"\(reference)\" is not in this schema, and nothing is fetched")
    }
    guard let fragment = JSONURI.unescaped(parts.fragment) else {
      throw place.failure("$ref", "\"\(reference)\" has an escape that is none")
    }
    guard fragment.isEmpty || fragment.hasPrefix("/") else {
      guard let anchored = anchors[JSONKey(text: uri + "#" + fragment)] else {
        throw place.failure("$ref", "there is no \"$anchor\" called \"\(fragment)\"")
      }
      return anchored
    }
    var reached = resource
    for component in try components(fragment, place) {
      guard let next = try reached.step(component)?.rebasedIfSchema() else {
        throw place.failure("$ref", "\"\(reference)\" leads to nothing")
      }
      reached = next
    }
    return reached
  }

  private func components(_ pointer: String, _ place: JSONSchemaPlace) throws -> [String] {
    do {
      return try JSONPath(pointer: pointer).components
    } catch let error as JSONError {
      throw place.failure("$ref", error.reason)
    }
  }

  private func add(
    _ place: JSONSchemaPlace, to table: inout [JSONKey: JSONSchemaPlace], as name: String, keyword: String
  ) throws {
    let key = JSONKey(text: name)
    if let known = table[key], known.path != place.path {
      throw place.failure(keyword, "\"\(name)\" is there twice")
    }
    table[key] = place
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

extension JSONSchemaPlace {
  /// With the base of an "$id", where this looks like a schema that has one.
  fileprivate func rebasedIfSchema() throws -> JSONSchemaPlace {
    guard case .string? = value["$id"] else { return self }
    return try rebased()
  }
}
