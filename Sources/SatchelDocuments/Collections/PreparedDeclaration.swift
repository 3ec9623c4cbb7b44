import SatchelCore
import SatchelJSON
import SatchelStorage

/// A declaration that was validated on its own, before it is compared with that of the store.
struct PreparedDeclaration {
  let declaration: CollectionDeclaration
  let indexes: [(path: FieldPath, isUnique: Bool)]
  let relations: [(path: DocumentPath, relation: RecordRelation)]
  let schema: RecordSchemaCheck?
  let sensitive: [DocumentPath]
  /// The form of the declaration in the store when nothing else was declared.
  let text: [UInt8]

  var version: Int { declaration.version ?? 1 }

  /// - Throws: `.invalid` for invalid names, paths and schemas, and for paths that are declared twice
  init(_ declaration: CollectionDeclaration) throws {
    self.declaration = declaration
    try RecordID.checkCollection(declaration.name)
    if let version = declaration.version, !(1...Int(Int32.max)).contains(version) {
      throw SatchelError(.invalid, "\(declaration.name): the version must be an integer from 1 to 2147483647")
    }
    func path(_ text: String) throws -> DocumentPath {
      do {
        return try DocumentPath(text)
      } catch let error as SatchelError {
        throw SatchelError(.invalid, "\(declaration.name): \(error.message)")
      }
    }
    indexes = try (declaration.indexes ?? []).map { index in
      guard let field = FieldPath.indexed(index.path) else {
        return (.document(try path(index.path)), index.isUnique)
      }
      guard !index.isUnique else {
        throw SatchelError(.invalid, "\(declaration.name): the index of \"\(index.path)\" cannot be unique")
      }
      return (field, false)
    }
    relations = try (declaration.relations ?? [:]).ordered {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }.map { (try path($0.key), $0.value) }
    for (_, relation) in relations { try RecordID.checkCollection(relation.collection) }
    for paths in [indexes.map(\.path), relations.map { .document($0.path) }] {
      for (position, path) in paths.enumerated() where paths[..<position].contains(path) {
        throw SatchelError(.invalid, "\(declaration.name): the path \"\(path.text)\" is declared twice")
      }
    }
    schema = try declaration.schema.flatMap { $0.isNull ? nil : try RecordSchemaCheck($0) }
    sensitive = try (declaration.sensitive ?? []).map { try path($0) }
    try Self.checkSensitive(
      sensitive, Self.documents(indexes), relations: relations.map(\.path), name: declaration.name)
    text = try naming("declaration") { try declaration.stored.json.serialized() }
  }

  /// The paths of the indexes into the documents.
  var documentIndexes: [DocumentPath] { Self.documents(indexes) }

  private static func documents(_ indexes: [(path: FieldPath, isUnique: Bool)]) -> [DocumentPath] {
    indexes.compactMap { if case .document(let path) = $0.path { path } else { nil } }
  }

  /// Rejects indexes and relations of values that no document has.
  ///
  /// - Parameter schema: of the collection
  /// - Throws: `.invalid`
  func checkPaths(_ schema: RecordSchemaCheck?) throws {
    for path in documentIndexes + relations.map(\.path) {
      try schema?.checkPath(path, of: declaration.name)
    }
  }

  /// - Throws: `.invalid` for a sensitive field that is declared twice, or that an index or a relation is in
  private static func checkSensitive(
    _ sensitive: [DocumentPath], _ indexes: [DocumentPath], relations: [DocumentPath], name: String
  ) throws {
    let fields = SensitiveFields(sensitive, of: name, 0)
    for (what, paths) in [("an index", indexes), ("a relation", relations)] {
      for path in paths {
        guard let field = fields.overlapping(path) else { continue }
        throw SatchelError(
          .invalid, "\(name): \"\(field.text)\" is sensitive, and \"\(path.text)\" cannot be \(what)")
      }
    }
    for (position, path) in sensitive.enumerated() {
      guard let other = SensitiveFields(Array(sensitive[..<position]), of: name, 0).overlapping(path) else {
        continue
      }
      throw SatchelError(
        .invalid,
        "\(name): \"\(path.text)\" and \"\(other.text)\" are both sensitive, and one is in the other")
    }
  }
}

/// The paths that declared migrations rename and move: indexes, relations and sensitive fields go with their fields.
struct MovedPaths {
  private struct Move {
    var from: [String]
    var to: [String]
    /// The version that the documents have afterwards.
    var version: Int
  }

  /// In the order in which they are applied; steps that only create a value at a path are in it with an empty `from`.
  private var moves: [Move] = []

  init(_ path: MigrationRun.Path) {
    for (version, migration) in path.steps {
      guard case .steps(let steps) = migration else { continue }
      for step in path.isUp ? steps : steps.reversed() {
        let version = path.isUp ? version + 1 : version
        switch step {
        case .rename(let from, let to), .move(let from, let to):
          let (from, to) = path.isUp ? (from, to) : (to, from)
          moves.append(Move(from: from.components, to: to.components, version: version))
        case .setDefault(let created, _) where path.isUp, .remove(let created) where !path.isUp:
          moves.append(Move(from: [], to: created.components, version: version))
        default: break
        }
      }
    }
  }

  /// Returns a declaration with the paths that its fields have after the migrations.
  func applied(to declaration: StoredDeclaration) throws -> StoredDeclaration {
    var result = declaration
    result.indexes = []
    for index in declaration.indexes {
      let path = FieldPath.indexed(index.path) == nil ? try moved(index.path).path.text : index.path
      if let same = result.indexes.firstIndex(where: { $0.path == path }) {
        result.indexes[same].isUnique = result.indexes[same].isUnique || index.isUnique
      } else {
        result.indexes.append(RecordIndex(path, unique: index.isUnique))
      }
    }
    result.relations = [:]
    for (path, relation) in declaration.relations { result.relations[try moved(path).path.text] = relation }
    result.sensitive = try declaration.sensitive.map { try moved($0).path.text }
    return result
  }

  /// Rejects a declaration with an index, a relation or a sensitive field at a path that a migration moves away.
  ///
  /// - Parameter known: the declaration of the documents before the migrations
  /// - Throws: `.invalid`
  func check(_ declared: PreparedDeclaration, _ known: StoredDeclaration) throws {
    func check(_ what: String, _ paths: [DocumentPath], before: some Sequence<String>) throws {
      for text in before {
        let path = try DocumentPath(text)
        let (after, version) = try moved(text)
        guard let version, paths.contains(path), !paths.contains(after), !isCreated(path) else { continue }
        throw SatchelError(
          .invalid,
          "\(declared.declaration.name): the migration to version \(version) moves \"\(text)\" to "
            + "\"\(after.text)\": declare \(what) of \"\(after.text)\"")
      }
    }
    try check(
      "the index", declared.documentIndexes,
      before: known.indexes.map(\.path).filter { FieldPath.indexed($0) == nil })
    try check("the relation", declared.relations.map(\.path), before: known.relations.keys)
    try check("the sensitive field", declared.sensitive, before: known.sensitive)
  }

  /// Returns the path of a field after the migrations, and the version in which it moved last; nil if it did not.
  private func moved(_ text: String) throws -> (path: DocumentPath, version: Int?) {
    let path = try DocumentPath(text)
    var components = path.path.components
    var version: Int?
    for move in moves where !move.from.isEmpty && components.starts(with: move.from, by: Self.isSame) {
      components = move.to + components.dropFirst(move.from.count)
      version = move.version
    }
    guard version != nil else { return (path, nil) }
    let pointer = try DocumentPath(JSONPath.pointer(components))
    // The dotted form where it leads to the same value, or where the path led into no arrays before.
    if let dotted = try? DocumentPath(components.joined(separator: ".")),
      dotted.path.components.elementsEqual(components, by: Self.isSame),
      dotted == pointer || !path.reachesArrays
    {
      return (dotted, version)
    }
    return (pointer, version)
  }

  /// Whether a migration creates a value at a path, or above it.
  private func isCreated(_ path: DocumentPath) -> Bool {
    moves.contains { path.path.components.starts(with: $0.to, by: Self.isSame) }
  }

  private static func isSame(_ left: String, _ right: String) -> Bool { left.hasSameBytes(as: right) }
}
