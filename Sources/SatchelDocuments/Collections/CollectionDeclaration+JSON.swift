import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

extension CollectionDeclaration {
  /// Reads the JSON form of the public interfaces; see `satchel_records_open`.
  ///
  /// - Parameter callback: the host's function for migrations that are "callback"
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  package init(json: JSONValue, callback: RecordCallback.Body? = nil) throws {
    self.init("")
    self.callback = callback
    try naming("declaration") {
      guard case .object(let members) = json else { throw JSONError("must be an object", pointer: "") }
      guard case .string(let name)? = members["name"] else {
        throw JSONError("must be the collection's name", pointer: "/name")
      }
      self.name = name
      for (key, value) in members where key != "name" && !value.isNull { try read(key, value) }
    }
  }

  private mutating func read(_ key: String, _ value: JSONValue) throws {
    switch (key, value) {
    case ("indexes", .array(let elements)):
      indexes = try elements.enumerated().map { try RecordIndex($1, at: "/indexes/\($0)") }
    case ("types", .object(let members)):
      var types: [String: RecordType] = [:]
      for (path, value) in members {
        types[path] = try RecordType(value, at: "/types/" + JSONPointer.escaped(path))
      }
      self.types = types
    case ("types", _): throw JSONError("must be an object of types by their paths", pointer: "/types")
    case ("relations", .object(let members)):
      var relations: [String: RecordRelation] = [:]
      for (path, value) in members {
        relations[path] = try RecordRelation(value, at: "/relations/" + JSONPointer.escaped(path))
      }
      self.relations = relations
    case ("sensitive", _): sensitive = try value.paths(at: "/" + key)
    case ("search", _): search = try value.paths(at: "/" + key)
    case ("positions", _): positions = try value.paths(at: "/" + key)
    case ("schema", .object), ("schema", .bool): schema = value
    case ("version", .int(let number)) where (1...Int64(Int32.max)).contains(number): version = Int(number)
    case ("migrations", _):
      migrations = try RecordMigration.list(value, at: "/migrations", callback: callback)
    case ("on_conflict", .string(let policy)):
      guard let policy = ConflictPolicy(rawValue: policy) else { fallthrough }
      onConflict = policy
    case ("on_conflict", _):
      let names = ConflictPolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw JSONError("must be one of \(names)", pointer: "/on_conflict")
    case ("synced", .bool(let synced)): isSynced = synced
    case ("synced", _): throw JSONError("must be true or false", pointer: "/synced")
    case ("ttl", _): ttl = try RecordLifetime(value, at: "/ttl")
    case ("indexes", _): throw JSONError("must be an array", pointer: "/indexes")
    case ("relations", _): throw JSONError("must be an object", pointer: "/relations")
    case ("schema", _): throw JSONError("must be a JSON Schema: an object, true or false", pointer: "/schema")
    case ("version", _): throw JSONError("must be an integer from 1 to 2147483647", pointer: "/version")
    default:
      throw JSONError(
        "unknown member of a declaration; the members are name, indexes, types, relations, sensitive, search, "
          + "positions, schema, version, migrations, on_conflict, synced and ttl",
        pointer: "/" + JSONPointer.escaped(key))
    }
  }

  /// The declaration that the store keeps for a new collection: everything but the version and the
  /// migrations.
  var stored: StoredDeclaration {
    var stored = StoredDeclaration()
    stored.indexes = allIndexes
    stored.types = allTypes
    stored.relations = relations ?? [:]
    stored.sensitive = sensitive ?? []
    stored.search = search ?? []
    stored.positions = positions ?? []
    stored.schema = schema.flatMap { $0.isNull ? nil : $0 }
    stored.isSynced = isSynced
    stored.ttl = ttl
    stored.onConflict = onConflict ?? .newestWins
    return stored
  }

  /// Returns this declaration with other indexes, relations and another schema.
  func declaring(_ stored: StoredDeclaration) -> CollectionDeclaration {
    var declaration = self
    declaration.indexes = stored.indexes
    declaration.types = stored.types
    declaration.relations = stored.relations
    declaration.sensitive = stored.sensitive
    declaration.search = stored.search
    declaration.positions = stored.positions
    declaration.schema = stored.schema
    declaration.isSynced = stored.isSynced
    declaration.ttl = stored.ttl
    declaration.onConflict = stored.onConflict
    return declaration
  }
}

extension CollectionDeclaration {
  /// The types, those of the indexes, and that of the time at which records expire.
  var allTypes: [String: RecordType] {
    var types = types ?? [:]
    for index in indexes ?? [] {
      guard let type = index.type, let path = index.paths.first, types[path] == nil else { continue }
      types[path] = type
    }
    if case .until(let path)? = ttl, types[path] == nil { types[path] = .time }
    return types
  }
}

extension RecordIndex: JSONConvertible {
  /// The index without the type, which the declaration has.
  var untyped: RecordIndex {
    var index = self
    index.type = nil
    return index
  }

  /// `{"path", "unique"}`, or with `paths`, and with `type` and `where`.
  public var json: JSONValue {
    var members: JSONObject =
      paths.count == 1 ? ["path": .string(paths[0])] : ["paths": .array(paths.map { .string($0) })]
    members["unique"] = .bool(isUnique)
    if let type { members["type"] = type.json }
    if let filter { members["where"] = filter.json }
    return .object(members)
  }

  fileprivate init(_ json: JSONValue, at pointer: String) throws {
    if case .string(let path) = json {
      self.init(path)
      return
    }
    guard case .object(let members) = json, (members["path"] == nil) != (members["paths"] == nil) else {
      throw JSONError("must be a path, or an object with a path or several paths", pointer: pointer)
    }
    self.init(paths: [])
    var type = JSONObject()
    for (key, value) in members {
      switch (key, value) {
      case ("path", .string(let path)): paths = [path]
      case ("path", _): throw JSONError("must be a path", pointer: pointer + "/path")
      case ("paths", _): paths = try value.paths(at: pointer + "/paths")
      case ("unique", .bool(let isUnique)): self.isUnique = isUnique
      case ("unique", .null), ("where", .null), ("type", .null): break
      case ("unique", _): throw JSONError("must be true or false", pointer: pointer + "/unique")
      case ("where", _): filter = try RecordFilter(value, at: pointer + "/where")
      case ("type", _), ("fold", _), ("order", _): type[key] = value
      default:
        throw JSONError(
          "unknown member of an index; the members are path, paths, unique, type, fold, order and where",
          pointer: pointer + "/" + JSONPointer.escaped(key))
      }
    }
    if !type.isEmpty { self.type = try RecordType(Self.type(type), at: pointer) }
    guard self.type == nil || paths.count == 1 else {
      throw JSONError(
        "is of an index of one path; declare the types of others in types", pointer: pointer + "/type")
    }
  }

  /// A type that is an object, or of which the members are those of the index.
  private static func type(_ members: JSONObject) -> JSONValue {
    if members.count == 1, let type = members["type"] { return type }
    return .object(members)
  }
}

extension RecordRelation: JSONConvertible {
  fileprivate init(_ json: JSONValue, at pointer: String) throws {
    guard case .object(let members) = json else { throw JSONError("must be an object", pointer: pointer) }
    guard case .string(let collection)? = members["collection"] else {
      throw JSONError("must be the name of a collection", pointer: pointer + "/collection")
    }
    self.init(collection)
    for (key, value) in members {
      switch (key, value) {
      case ("collection", _), ("on_delete", .null), ("many", .null): break
      case ("on_delete", .string(let text)):
        guard let action = OnDelete(rawValue: text) else { fallthrough }
        onDelete = action
      case ("on_delete", _):
        throw JSONError("must be restrict, cascade or nullify", pointer: pointer + "/on_delete")
      case ("many", .bool(let value)): isMany = value
      case ("many", _): throw JSONError("must be true or false", pointer: pointer + "/many")
      default:
        throw JSONError("unknown member of a relation", pointer: pointer + "/" + JSONPointer.escaped(key))
      }
    }
  }

  public var json: JSONValue {
    [
      "collection": .string(collection), "on_delete": .string(onDelete.rawValue), "many": .bool(isMany),
    ]
  }
}
