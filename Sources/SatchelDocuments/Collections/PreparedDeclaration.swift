import SatchelCore
import SatchelJSON
import SatchelStorage

/// A declaration that was validated on its own, before it is compared with that of the store.
final class PreparedDeclaration {
  let declaration: CollectionDeclaration
  let indexes: [PreparedIndex]
  let types: TypedPaths
  let relations: [(path: DocumentPath, relation: RecordRelation)]
  let schema: RecordSchemaCheck?
  let sensitive: [DocumentPath]
  let search: [DocumentPath]
  let positions: [DocumentPath]
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
    let (steps, needed) = (declaration.migrations.count, (declaration.version ?? 1) - 1)
    // There may be more: an older app migrates back by functions of newer ones.
    guard steps == 0 || steps >= needed else {
      throw SatchelError(
        .invalid,
        "\(declaration.name): version \(needed + 1) needs \(needed) migrations, one from each version to the next, "
          + "not \(steps)")
    }
    func path(_ text: String) throws -> DocumentPath {
      try locatingInvalid(declaration.name) { try DocumentPath(text) }
    }
    try declaration.checkLifetime()
    types = try locatingInvalid(declaration.name) { try Self.types(of: declaration) }
    indexes = try declaration.allIndexes.map { [types] index in
      try locatingInvalid(declaration.name) {
        PreparedIndex(
          definition: try IndexDefinition(index, types), isUnique: index.isUnique, declared: index.untyped)
      }
    }
    relations = try (declaration.relations ?? [:]).ordered {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }.map { (try path($0.key), $0.value) }
    for (_, relation) in relations { try RecordID.checkCollection(relation.collection) }
    search = try (declaration.search ?? []).map { try path($0) }
    positions = try (declaration.positions ?? []).map { try path($0) }
    for (position, index) in indexes.enumerated()
    where indexes[..<position].contains(where: { $0.definition.isSame(as: index.definition) }) {
      throw SatchelError(.invalid, "\(declaration.name): the index of \"\(index.name)\" is declared twice")
    }
    for paths in [relations.map(\.path), search, positions] {
      for (position, path) in paths.enumerated() where paths[..<position].contains(path) {
        throw SatchelError(.invalid, "\(declaration.name): the path \"\(path.text)\" is declared twice")
      }
    }
    schema = try declaration.schema.flatMap { $0.isNull ? nil : try RecordSchemaCheck($0) }
    sensitive = try (declaration.sensitive ?? []).map { try path($0) }
    try Self.checkSensitive(
      sensitive,
      [
        ("an index", Self.documents(indexes)), ("a relation", relations.map(\.path)),
        ("a type", types.paths.compactMap(\.source)), ("searched", search), ("a position", positions),
      ], name: declaration.name)
    try RecordSearches.checkCounts(declaration)
    for relation in relations where types[.document(relation.path)] != nil {
      throw SatchelError(
        .invalid,
        "\(declaration.name): \"\(relation.path.text)\" is a relation: its values are ids, and have no type")
    }
    text = try naming("declaration") { try declaration.stored.json.serialized() }
  }

  /// The paths into the documents that the indexes read.
  var documentIndexes: [DocumentPath] { Self.documents(indexes) }

  private static func documents(_ indexes: [PreparedIndex]) -> [DocumentPath] {
    var paths: [DocumentPath] = []
    for index in indexes { index.definition.eachPath { if let path = $0.source { paths.append(path) } } }
    return paths
  }

  private static func types(of declaration: CollectionDeclaration) throws -> TypedPaths {
    let types = try TypedPaths(declaration.allTypes)
    for index in declaration.indexes ?? [] {
      guard let type = index.type, let path = index.paths.first else { continue }
      guard index.paths.count == 1 else {
        throw SatchelError(
          .invalid, "an index of several paths has no type of its own: declare the types of its paths")
      }
      guard try types[FieldPath(path)] == type else {
        throw SatchelError(.invalid, "\"\(path)\" is declared with two types")
      }
    }
    return types
  }

  /// Rejects indexes and relations of values that no document has.
  ///
  /// - Parameter schema: of the collection
  /// - Throws: `.invalid`
  func checkPaths(_ schema: RecordSchemaCheck?) throws {
    for path in documentIndexes + types.paths.compactMap(\.source) + relations.map(\.path) + search
      + positions
    {
      try schema?.checkPath(path, of: declaration.name)
    }
  }

  /// - Parameter others: the paths that must not be in a sensitive field, and what they are
  /// - Throws: `.invalid` for a sensitive field that is declared twice, or that one of the others is in
  private static func checkSensitive(
    _ sensitive: [DocumentPath], _ others: [(String, [DocumentPath])], name: String
  ) throws {
    let fields = SensitiveFields(sensitive, of: name, 0)
    for (what, paths) in others {
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

/// An index of a declaration.
struct PreparedIndex {
  let definition: IndexDefinition
  let isUnique: Bool
  let declared: RecordIndex

  /// For messages.
  var name: String { declared.paths.joined(separator: ", ") }
}

/// Names the collection in the errors of invalid paths.
private func locatingInvalid<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as SatchelError where error.code == .invalid {
    throw SatchelError(.invalid, "\(name): \(error.message)")
  }
}
