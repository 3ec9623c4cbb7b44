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
    case ("relations", .object(let members)):
      var relations: [String: RecordRelation] = [:]
      for (path, value) in members {
        relations[path] = try RecordRelation(value, at: "/relations/" + JSONPointer.escaped(path))
      }
      self.relations = relations
    case ("sensitive", .array(let elements)):
      sensitive = try elements.enumerated().map { position, element in
        guard case .string(let path) = element else {
          throw JSONError("must be a path", pointer: "/sensitive/\(position)")
        }
        return path
      }
    case ("sensitive", _): throw JSONError("must be an array of paths", pointer: "/sensitive")
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
    case ("indexes", _): throw JSONError("must be an array", pointer: "/indexes")
    case ("relations", _): throw JSONError("must be an object", pointer: "/relations")
    case ("schema", _): throw JSONError("must be a JSON Schema: an object, true or false", pointer: "/schema")
    case ("version", _): throw JSONError("must be an integer from 1 to 2147483647", pointer: "/version")
    default:
      throw JSONError(
        "unknown member of a declaration; the members are name, indexes, relations, sensitive, schema, version, "
          + "migrations, on_conflict and synced",
        pointer: "/" + JSONPointer.escaped(key))
    }
  }

  /// The declaration that the store keeps for a new collection: everything but the version and the
  /// migrations.
  var stored: StoredDeclaration {
    var stored = StoredDeclaration()
    stored.indexes = indexes ?? []
    stored.relations = relations ?? [:]
    stored.sensitive = sensitive ?? []
    stored.schema = schema.flatMap { $0.isNull ? nil : $0 }
    stored.isSynced = isSynced
    stored.onConflict = onConflict ?? .newestWins
    return stored
  }

  /// Returns this declaration with other indexes, relations and another schema.
  func declaring(_ stored: StoredDeclaration) -> CollectionDeclaration {
    var declaration = self
    declaration.indexes = stored.indexes
    declaration.relations = stored.relations
    declaration.sensitive = stored.sensitive
    declaration.schema = stored.schema
    declaration.isSynced = stored.isSynced
    declaration.onConflict = stored.onConflict
    return declaration
  }
}

extension RecordIndex {
  fileprivate init(_ json: JSONValue, at pointer: String) throws {
    if case .string(let path) = json {
      self.init(path)
      return
    }
    guard case .object(let members) = json, case .string(let path)? = members["path"] else {
      throw JSONError("must be a path, or {\"path\", \"unique\"}", pointer: pointer)
    }
    switch members["unique"] {
    case nil, .null: self.init(path)
    case .bool(let isUnique): self.init(path, unique: isUnique)
    default: throw JSONError("must be true or false", pointer: pointer + "/unique")
    }
    for key in members.keys where key != "path" && key != "unique" {
      throw JSONError("unknown member of an index", pointer: pointer + "/" + JSONPointer.escaped(key))
    }
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
