import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// A relation of a collection in the store.
struct CollectionRelation: Sendable {
  var id: Int64
  /// The collection that declares the relation.
  var source: Int64
  var path: DocumentPath
  var target: Int64
  var onDelete: RecordRelation.OnDelete
  var isMany: Bool
}

/// The rules of a collection's declaration: its indexes, relations, schema and sensitive fields. Immutable, and shared by
/// all states of the collection until it is declared again.
final class CollectionRules: Sendable {
  let id: Int64
  let name: String
  /// Increases with every change of the declaration.
  let number: Int64
  let indexes: [CollectionIndex]
  /// Whether the keys of an index were made with other tables of Unicode: it is left out until it is built again.
  let hasOutdatedIndex: Bool
  let types: TypedPaths
  let relations: [CollectionRelation]
  /// The fields that are stored encrypted.
  let sensitive: SensitiveFields
  let isSensitive: Bool
  /// The indexes of texts and of positions; nil where none are declared.
  let searches: RecordSearches?
  private let declaredSchema: JSONValue?
  private let compiledSchema = Lazy<Result<RecordSchemaCheck?, any Error>>()
  /// See `StoredDeclaration`.
  let generation: Int64
  let isSynced: Bool
  /// When records expire; nil for never.
  let expiry: RecordExpiry?
  /// Whether a declaration says that it is synchronized.
  let isDeclaredSynced: Bool
  let onConflict: ConflictPolicy

  init(of id: Int64, named name: String, number: Int64, _ connection: Connection) throws {
    (self.id, self.name, self.number) = (id, name, number)
    var (indexes, hasOutdated): ([CollectionIndex], Bool) = ([], false)
    try connection.each(
      "SELECT id, definition, is_unique FROM record_index WHERE collection = ? ORDER BY id", .integer(id)
    ) {
      guard let definition = try IndexDefinition(stored: $0.text(1)) else { return hasOutdated = true }
      indexes.append(CollectionIndex(id: $0.anyInteger(0), definition, isUnique: $0.flag(2)))
    }
    (self.indexes, hasOutdatedIndex) = (indexes, hasOutdated)
    var relations: [CollectionRelation] = []
    try connection.each(
      """
      SELECT id, collection, path, target, on_delete, is_many FROM record_relation WHERE collection = ?
      ORDER BY id
      """, .integer(id)
    ) { relations.append(try CollectionRelation($0)) }
    self.relations = relations
    let declaration = try StoredDeclaration.read(of: id, named: name, connection)
    declaredSchema = declaration.schema
    types = try TypedPaths(declaration.types)
    sensitive = SensitiveFields(try declaration.sensitive.map { try DocumentPath($0) }, of: name, id)
    isSensitive = !declaration.sensitive.isEmpty
    searches = try RecordSearches(declaration, of: id)
    generation = declaration.generation
    isSynced = id != ReservedCollection.state.id && declaration.isSynced ?? (declaration.ttl == nil)
    expiry = try RecordExpiry(declaration.ttl, indexes)
    isDeclaredSynced = declaration.isSynced == true
    onConflict = declaration.onConflict
  }

  /// Whether a write needs the previous document.
  var needsOldDocument: Bool { !indexes.isEmpty || !relations.isEmpty || searches != nil }

  /// The schema, compiled when a write or a query first needs it.
  ///
  /// - Throws: `.invalid` for one that cannot be compiled here
  var schema: RecordSchemaCheck? {
    get throws {
      try compiledSchema.value { Result { try declaredSchema.map { try RecordSchemaCheck($0) } } }.get()
    }
  }

  /// Returns the relations that refer to records of a collection, by id.
  static func incoming(_ collection: Int64, _ connection: Connection) throws -> [Int64: CollectionRelation] {
    var relations: [Int64: CollectionRelation] = [:]
    try connection.each(
      "SELECT id, collection, path, target, on_delete, is_many FROM record_relation WHERE target = ?",
      .integer(collection)
    ) { relations[$0.anyInteger(0)] = try CollectionRelation($0) }
    return relations
  }
}

extension CollectionRelation {
  fileprivate init(_ row: Statement) throws {
    id = row.anyInteger(0)
    source = try row.integer(1, in: RecordRow.collections)
    path = try DocumentPath(row.text(2))
    target = try row.integer(3, in: RecordRow.collections)
    onDelete = RecordRelation.OnDelete(number: row.anyInteger(4))
    isMany = row.flag(5)
  }
}

extension RecordRelation.OnDelete {
  init(number: Int64) { self = number == 1 ? .cascade : number == 2 ? .nullify : .restrict }

  /// The number in the store.
  var number: Int64 {
    switch self {
    case .restrict: 0
    case .cascade: 1
    case .nullify: 2
    }
  }
}

/// The JSON Schema of a collection's documents.
struct RecordSchemaCheck: Sendable {
  private let schema: JSONSchema

  /// - Throws: `.invalid` for an invalid schema
  init(_ json: JSONValue) throws { schema = try naming("schema") { try JSONSchema(json) } }

  /// The keywords of the schema that have no effect.
  var warnings: [String] { schema.warnings.map(\.description) }

  /// Returns the warnings of a stored schema; none for one that cannot be compiled here.
  static func warnings(of json: JSONValue?) -> [String] {
    guard let json, !json.isNull, let check = try? RecordSchemaCheck(json) else { return [] }
    return check.warnings
  }

  /// Rejects a path to a value that no document of the collection has.
  ///
  /// - Throws: `.invalid` with the path and the one that was probably meant
  func checkPath(_ path: DocumentPath, of collection: String) throws {
    let components = path.path.components
    guard let found = schema.excludedMember(of: components, reachesArrays: path.reachesArrays) else { return }
    let name = components[found.position]
    let reason =
      found.position > 0 && found.suggestion == nil
      ? "the schema has no \"\(name)\" in \"\(components[found.position - 1])\""
      : "the schema has no \"\(name)\""
    var meant = components
    if let suggestion = found.suggestion { meant[found.position] = suggestion }
    let likely = path.path.isPointer ? JSONPath.pointer(meant) : meant.joined(separator: ".")
    throw SatchelError(
      .invalid,
      "\(collection): \"\(path.text)\": \(reason)"
        + (found.suggestion == nil ? "" : ": did you mean \"\(likely)\"?"))
  }

  /// - Parameter location: "collection/id"
  /// - Throws: `.constraint` with the JSON Pointers of the values that violate the schema
  func check(_ body: UnsafeRawBufferPointer, _ location: @autoclosure () -> String) throws {
    let violations = try schema.check(body)
    guard !violations.isEmpty else { return }
    let reasons = violations.prefix(3).map {
      "\($0.pointer.isEmpty ? "the document" : $0.pointer): \($0.reason)"
    }
    let others = violations.count > 3 ? "; and \(violations.count - 3) more" : ""
    let name = location()
    throw SatchelError(.constraint, "\(name): \(reasons.joined(separator: "; "))\(others)")
      .at(.record(named: name, pointer: violations.first?.pointer))
  }
}
