import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

/// The version of the values, and the migrations that they went through: documents `{"steps", "kept"}` under the version
/// that each led to. `kept` has what migrating back needs.
struct StateVersions {
  let version: () throws -> Int
  /// Returns a document of the collection `@state`.
  let read: (_ key: String) throws -> ReservedDocument?

  /// A migration between `version` and the next one.
  struct Step {
    var version: Int
    var migration: RecordMigration
  }

  static func key(_ version: Int) -> String { "@migration/\(version)" }

  /// Returns the migrations between two versions, in the order in which they are applied.
  ///
  /// - Parameter isEmpty: whether there are no values, which need no migration
  /// - Throws: `.invalid` when a migration is missing, `.newer` when the values cannot be migrated back
  func migrations(
    from stored: Int, to version: Int, _ declaration: StateDeclaration, isEmpty: Bool
  ) throws -> [Step] {
    var steps: [Step] = []
    if version > stored {
      for (from, migration) in zip(1..<version, declaration.migrations) where from >= stored {
        steps.append(Step(version: from, migration: migration))
      }
      let known = max(stored, declaration.migrations.count + 1)
      guard known >= version || isEmpty else {
        throw SatchelError(
          .invalid, "state: no migration from version \(known) to \(known + 1) is declared")
      }
      return steps
    }
    for from in (version..<stored).reversed() {
      guard let migration = try migration(to: from + 1, callback: declaration.callback),
        migration.isInvertible
      else {
        throw SatchelError(
          .newer, "state: its values have version \(stored), and cannot be migrated back to \(version)")
      }
      steps.append(Step(version: from, migration: migration))
    }
    return steps
  }

  private func members(to version: Int) throws -> JSONObject? {
    guard let document = try read(Self.key(version)) else { return nil }
    return try damage(version) {
      guard case .object(let members) = try JSONValue(parsing: document.body) else {
        throw JSONError("is not an object", pointer: "")
      }
      return members
    }
  }

  private func damage<Result>(_ version: Int, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as JSONError {
      throw SatchelError(.damaged, "state: the migration to version \(version): \(error)", underlying: error)
    }
  }

  func migration(to version: Int, callback: RecordCallback.Body?) throws -> RecordMigration? {
    guard let members = try members(to: version) else { return nil }
    return try damage(version) { try RecordMigration(json: members["steps"] ?? .null, callback: callback) }
  }

  func kept(to version: Int) throws -> [KeptValue] {
    guard let kept = try members(to: version)?["kept"] else { return [] }
    return try damage(version) {
      guard case .object(let object) = kept else { throw JSONError("is not an object", pointer: "/kept") }
      return try object.map { path, values in
        guard case .array(let values) = values, values.count <= 1 else {
          throw JSONError("is not a kept value", pointer: "/kept" + JSONPath.pointer([path]))
        }
        return try KeptValue(path: path, bytes: values.first?.serialized() ?? [])
      }
    }
  }

  static func stored(
    _ migration: RecordMigration, _ kept: [KeptValue], at time: Int64
  ) throws -> ReservedDocument {
    var object = JSONObject()
    for value in kept { object[value.path] = .array(value.value.map { [$0] } ?? []) }
    let body = try JSONValue.object(["steps": migration.json, "kept": .object(object)]).serialized()
    return ReservedDocument(modified: time, isSealed: false, body: body)
  }
}
