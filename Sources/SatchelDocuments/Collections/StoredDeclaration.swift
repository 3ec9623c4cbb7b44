import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// The declaration of a collection in the store.
struct StoredDeclaration: Equatable {
  var indexes: [RecordIndex] = []
  /// By path.
  var types: [String: RecordType] = [:]
  /// By path.
  var relations: [String: RecordRelation] = [:]
  /// Paths of sensitive fields.
  var sensitive: [String] = []
  /// Paths of texts, and of positions, which have indexes.
  var search: [String] = []
  var positions: [String] = []
  var schema: JSONValue?
  /// Whether the records are synchronized with the store.
  /// Nil where no declaration says it, which means true, unless they expire.
  var isSynced: Bool?
  var ttl: RecordLifetime?
  /// The conflict policy.
  var onConflict = ConflictPolicy.newestWins
  /// Changes with each `redeclare` that drops or replaces something; 0 before the first. Random, so that a
  /// handle of a declaration that was rolled back is never mistaken for one of a later declaration.
  var generation: Int64 = 0

  init() {}

  /// - Parameter text: empty for a collection that was not declared
  /// - Throws: `.damaged` for text that no declaration can have produced
  init(_ text: UnsafeRawBufferPointer, of name: String) throws {
    guard !text.isEmpty else { return }
    do {
      guard case .object(var members) = try JSONValue(parsing: text) else {
        throw JSONError("must be an object", pointer: "")
      }
      if let generation = members["generation"] {
        guard case .int(let number) = generation else {
          throw JSONError("must be a number", pointer: "/generation")
        }
        self.generation = number
        members["generation"] = nil
      }
      members["name"] = .string(name)
      let declared = try CollectionDeclaration(json: .object(members))
      indexes = declared.indexes ?? []
      types = declared.types ?? [:]
      relations = declared.relations ?? [:]
      sensitive = declared.sensitive ?? []
      search = declared.search ?? []
      positions = declared.positions ?? []
      schema = declared.schema
      isSynced = declared.isSynced
      ttl = declared.ttl
      onConflict = declared.onConflict ?? .newestWins
    } catch {
      throw SatchelError(
        .damaged, "\(name): its declaration in the store is damaged: \(error)", underlying: error)
    }
  }

  /// - Parameter expected: the declaration as an app that alone uses its collections repeats it at each
  ///   start: it needs no parsing
  static func read(
    of collection: Int64, named name: String, _ connection: Connection, expected: PreparedDeclaration? = nil
  ) throws -> StoredDeclaration {
    try connection.first("SELECT declaration FROM record_collection WHERE id = ?", .integer(collection)) {
      let text = $0.bytes(0)
      if let expected, text.elementsEqual(expected.text) { return expected.declaration.stored }
      return try StoredDeclaration(text, of: name)
    } ?? StoredDeclaration()
  }

  /// The form in the store.
  var json: JSONValue {
    let relations = relations.ordered { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    var members: JSONObject = [
      "indexes": .array(indexes.map(\.json)),
      "relations": .object(JSONObject(relations.map { ($0.key, $0.value.json) })),
      "schema": schema ?? .null,
    ]
    if !types.isEmpty {
      let types = types.ordered { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      members["types"] = .object(JSONObject(types.map { ($0.key, $0.value.json) }))
    }
    if !sensitive.isEmpty { members["sensitive"] = .array(sensitive.map { .string($0) }) }
    if !search.isEmpty { members["search"] = .array(search.map { .string($0) }) }
    if !positions.isEmpty { members["positions"] = .array(positions.map { .string($0) }) }
    if let isSynced { members["synced"] = .bool(isSynced) }
    if let ttl { members["ttl"] = ttl.json }
    if onConflict != .newestWins { members["on_conflict"] = .string(onConflict.rawValue) }
    if generation != 0 { members["generation"] = .int(generation) }
    return .object(members)
  }
}

extension StoredDeclaration {
  /// Returns the declaration that results from another declaration: nothing is dropped or replaced, except
  /// with `redeclare`, and except for what the declaration of another version changes for the documents of
  /// that version.
  ///
  /// - Parameter version: the version of the stored records; 0 when the collection was not declared
  /// - Throws: `.invalid` for an index, relation or schema that the store declares differently
  func joined(with declared: PreparedDeclaration, version: Int64) throws -> StoredDeclaration {
    let name = declared.declaration.name
    let isWhole = declared.declaration.redeclare
    let replaces = isWhole || version != Int64(declared.version) && !declared.declaration.isBare
    func checkReplaced(_ what: String) throws {
      guard !replaces else { return }
      throw SatchelError(
        .invalid,
        "\(name): \(what); a declaration only adds: declare the same, or replace it with redeclare=True")
    }
    var joined = StoredDeclaration()

    for (text, type) in types {
      guard let same = declared.types[try FieldPath(text)] else {
        if !isWhole { joined.types[text] = type }
        continue
      }
      if same != type { try checkReplaced("the type of \"\(text)\" is \(try type.json.text) in the store") }
      joined.types[text] = same
    }
    let typed = try TypedPaths(types)
    for (text, type) in declared.declaration.allTypes where try typed[FieldPath(text)] == nil {
      joined.types[text] = type
    }

    let known = try indexes.map { try IndexDefinition($0, .none) }
    for (index, definition) in zip(indexes, known) {
      guard let same = declared.indexes.first(where: { $0.definition.isSame(as: definition) }) else {
        if !isWhole { joined.indexes.append(index) }
        continue
      }
      if same.isUnique != index.isUnique {
        try checkReplaced(
          "the index of \"\(index.paths.joined(separator: ", "))\" is \(index.isUnique ? "unique" : "not unique") "
            + "in the store")
      }
      var index = index
      index.isUnique = same.isUnique
      joined.indexes.append(index)
    }
    for index in declared.indexes where !known.contains(where: { $0.isSame(as: index.definition) }) {
      joined.indexes.append(index.declared)
    }

    for (text, relation) in relations {
      let path = try DocumentPath(text)
      guard let same = declared.relations.first(where: { $0.path == path }) else {
        if !isWhole { joined.relations[text] = relation }
        continue
      }
      if same.relation != relation {
        try checkReplaced("the relation of \"\(text)\" is \(try relation.json.text) in the store")
      }
      joined.relations[text] = same.relation
    }
    let related = try relations.keys.map { try DocumentPath($0) }
    for (path, relation) in declared.relations where !related.contains(path) {
      joined.relations[path.text] = relation
    }

    joined.sensitive = try Self.joined(sensitive, declared.sensitive, isWhole)
    joined.search = try Self.joined(search, declared.search, isWhole)
    joined.positions = try Self.joined(positions, declared.positions, isWhole)

    if let schema = declared.declaration.schema, !schema.isNull {
      if let known = self.schema, known != schema { try checkReplaced("the store has another schema") }
      joined.schema = self.schema == schema ? self.schema : schema
    } else if !isWhole, declared.declaration.isBare || version <= Int64(declared.version) {
      // Documents that are migrated back to an older version lose the schema of the newer one.
      joined.schema = schema
    }
    if let ttl = declared.declaration.ttl {
      if let known = self.ttl, known != ttl {
        try checkReplaced("the ttl is \(try known.json.text) in the store")
      }
      joined.ttl = ttl
    } else if !isWhole {
      joined.ttl = ttl
    }
    // The latest declaration decides: these change nothing that the store contains.
    joined.isSynced = declared.declaration.isSynced ?? isSynced
    joined.onConflict = declared.declaration.onConflict ?? onConflict
    joined.generation = isWhole && drops(joined) ? Int64.random(in: 1...Int64.max) : generation
    return joined
  }

  /// Returns the known paths, without those that a whole declaration lacks, and the new ones after them.
  private static func joined(
    _ known: [String], _ declared: [DocumentPath], _ isWhole: Bool
  ) throws -> [String] {
    let paths = try known.map { try DocumentPath($0) }
    return paths.filter { !isWhole || declared.contains($0) }.map(\.text)
      + declared.filter { !paths.contains($0) }.map(\.text)
  }

  /// Whether another declaration lacks a part of this one, or declares it differently.
  private func drops(_ other: StoredDeclaration) -> Bool {
    !indexes.allSatisfy(other.indexes.contains)
      || !types.allSatisfy { other.types[$0.key] == $0.value }
      || !relations.allSatisfy { other.relations[$0.key] == $0.value }
      || schema != nil && schema != other.schema
  }
}
