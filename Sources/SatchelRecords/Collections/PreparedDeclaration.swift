import SatchelCore
import SatchelJSON
import SatchelStorage

/// A declaration that was validated on its own, before it is compared with that of the store.
struct PreparedDeclaration {
  let declaration: CollectionDeclaration
  let indexes: [(path: DocumentPath, isUnique: Bool)]
  let relations: [(path: DocumentPath, relation: RecordRelation)]
  let schema: RecordSchemaCheck?
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
}
