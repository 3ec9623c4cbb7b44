import SatchelCore
import SatchelJSON
import SatchelStorage

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
      let path = try moved(index.path).path.text
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
    func check(_ what: String, _ paths: [DocumentPath], _ before: some Sequence<String>) throws {
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
    try check("the index", declared.indexes.map(\.path), known.indexes.map(\.path))
    try check("the relation", declared.relations.map(\.path), known.relations.keys)
    try check("the sensitive field", declared.sensitive, known.sensitive)
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
