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
      var index = index
      index.paths = try index.paths.map { try movedField($0) }
      index.filter = try index.filter.map { try moved($0) }
      if let same = result.indexes.firstIndex(where: { $0.paths == index.paths && $0.filter == index.filter })
      {
        result.indexes[same].isUnique = result.indexes[same].isUnique || index.isUnique
      } else {
        result.indexes.append(index)
      }
    }
    result.types = [:]
    for (path, type) in declaration.types { result.types[try movedField(path)] = type }
    result.relations = [:]
    for (path, relation) in declaration.relations { result.relations[try moved(path).path.text] = relation }
    result.sensitive = try declaration.sensitive.map { try moved($0).path.text }
    result.search = try declaration.search.map { try moved($0).path.text }
    result.positions = try declaration.positions.map { try moved($0).path.text }
    if case .until(let path)? = declaration.ttl { result.ttl = .until(try moved(path).path.text) }
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
    var indexed: [String] = []
    for index in known.indexes {
      try IndexDefinition(index, .none).eachPath { if let path = $0.source { indexed.append(path.text) } }
    }
    try check("the index", declared.documentIndexes, before: indexed)
    try check(
      "the type", declared.types.paths.compactMap(\.source),
      before: try TypedPaths(known.types).paths.compactMap(\.source?.text))
    try check("the relation", declared.relations.map(\.path), before: known.relations.keys)
    try check("the sensitive field", declared.sensitive, before: known.sensitive)
    try check("the search", declared.search, before: known.search)
    try check("the positions", declared.positions, before: known.positions)
  }

  /// Returns the path of an index or a type after the migrations.
  private func movedField(_ text: String) throws -> String {
    if text.utf8.first == UInt8(ascii: "-") { return "-" + (try movedField(String(text.dropFirst()))) }
    switch try FieldPath(stored: text) {
    case .document: return try moved(text).path.text
    case .computed(let path): return "\(path.function.rawValue)(\(try moved(path.path.text).path.text))"
    case .elements(let path):
      guard let first = path.arrays.first else { return text }
      return try moved(first.text).path.text + text.dropFirst(first.text.count)
    case .id, .created, .modified, .revision, .syncStatus: return text
    }
  }

  private func moved(_ filter: RecordFilter) throws -> RecordFilter {
    switch filter {
    case .field(let path, let test): .field(try movedField(path), test)
    case .all(let parts): .all(try parts.map { try moved($0) })
    case .any(let parts): .any(try parts.map { try moved($0) })
    case .not(let part): .not(try moved(part))
    }
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
