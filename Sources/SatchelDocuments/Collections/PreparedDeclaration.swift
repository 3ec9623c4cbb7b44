import SatchelCore
import SatchelJSON
import SatchelStorage

/// A declaration that was validated on its own, before it is compared with that of the store.
struct PreparedDeclaration {
  let declaration: CollectionDeclaration
  let indexes: [(path: DocumentPath, isUnique: Bool)]
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
    indexes = try (declaration.indexes ?? []).map { (try path($0.path), $0.isUnique) }
    relations = try (declaration.relations ?? [:]).sorted {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }.map { (try path($0.key), $0.value) }
    for (_, relation) in relations { try RecordID.checkCollection(relation.collection) }
    for paths in [indexes.map(\.path), relations.map(\.path)] {
      for (position, path) in paths.enumerated() where paths[..<position].contains(path) {
        throw SatchelError(.invalid, "\(declaration.name): the path \"\(path.text)\" is declared twice")
      }
    }
    schema = try declaration.schema.flatMap { $0.isNull ? nil : try RecordSchemaCheck($0) }
    sensitive = try (declaration.sensitive ?? []).map { try path($0) }
    try Self.checkSensitive(sensitive, indexes.map(\.path), relations.map(\.path), declaration.name)
    text = try naming("declaration") { try declaration.stored.json.serialized() }
  }

  /// Rejects indexes and relations of values that no document has.
  ///
  /// - Parameter schema: of the collection
  /// - Throws: `.invalid`
  func checkPaths(_ schema: RecordSchemaCheck?) throws {
    for path in indexes.map(\.path) + relations.map(\.path) {
      try schema?.checkPath(path, of: declaration.name)
    }
  }

  /// - Throws: `.invalid` for a sensitive field that is declared twice, or that an index or a relation is in
  private static func checkSensitive(
    _ sensitive: [DocumentPath], _ indexes: [DocumentPath], _ relations: [DocumentPath], _ name: String
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
