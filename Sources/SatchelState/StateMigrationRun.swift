import SatchelCore
import SatchelJSON
import SatchelStorage

/// Migrates the values of a store to another version, inside a transaction.
struct StateMigrationRun {
  private let transaction: Transaction
  private let database: Database
  private let declaration: StateDeclaration
  private var tables: StateTables { StateTables(connection: transaction.connection) }

  init(_ transaction: Transaction, _ database: Database, _ declaration: StateDeclaration) {
    self.transaction = transaction
    self.database = database
    self.declaration = declaration
  }

  func migrate(to version: Int) throws {
    let stored = try tables.version()
    let before = try tables.plainValues()
    var after = before
    let steps = try tables.migrations(from: stored, to: version, declaration, isEmpty: before.isEmpty)
    for step in steps {
      do {
        if version > stored {
          var kept: [KeptValue] = []
          try database.migrating("the migration of the state to version \(step.version + 1)") {
            try step.migration.apply(to: &after, id: "state", version: step.version, kept: &kept)
          }
          try tables.note(step.migration, kept, to: step.version + 1)
        } else {
          let kept = try tables.kept(to: step.version + 1)
          try database.migrating("the migration of the state to version \(step.version)") {
            try step.migration.invert(&after, id: "state", version: step.version, kept: kept)
          }
          try tables.forgetMigration(to: step.version + 1)
        }
      } catch let error as JSONError {
        throw SatchelError(.invalid, "state: \(error)", underlying: error)
          .at(subject: Change.Subject.state.rawValue)
      }
    }
    try write(after, over: before, moved: steps.flatMap { $0.migration.moved(isUp: version > stored) })
  }

  /// Writes the values that differ.
  ///
  /// - Parameter moved: the values whose key changed: synchronized ones stay synchronized
  private func write(
    _ after: JSONObject, over before: JSONObject, moved: [(from: String, to: String)]
  ) throws {
    var tracking = StateTracking()
    for (key, value) in after where before[key] != value {
      let name = try StateName(ofHost: key, as: "key")
      if try tables.value(.value(name))?.isSealed == true {
        throw SatchelError(.invalid, "state/\(key): is sensitive, and a migration would replace it")
          .at(StateID(.value, name).details)
      }
      let bytes = try StateStore.bytes(of: value, at: "state/\(key)")
      try apply(.value(name), .set(bytes, isSealed: false))
      tracking.changed.insert(StateID(.value, name))
    }
    for (key, _) in before where after[key] == nil {
      let name = StateName(sound: key)
      try apply(.value(name), .remove)
      tracking.changed.insert(StateID(.value, name))
    }
    for (from, to) in moved where after[to] != nil && before[from] != nil {
      let (old, new) = (
        StateID(.value, StateName(sound: from)), StateID(.value, try StateName(ofHost: to, as: "key"))
      )
      guard let mark = try tables.mark(old), try tables.mark(new) == nil, new.syncKey != nil else { continue }
      try tables.set(mark, of: new)
      tracking.add(mark, of: new, after: nil)
    }
    transaction.note(tracking.changed.ordered)
    try tracking.note(in: transaction, of: database)
  }

  private func apply(_ target: StateTarget, _ action: StateOperation.Action) throws {
    try tables.apply(
      StateOperation(
        target: target, action: action, time: transaction.now, writer: 0, sequence: 0, number: 0))
  }
}

extension RecordMigration {
  /// The keys of whole values that the migration moves.
  fileprivate func moved(isUp: Bool) -> [(from: String, to: String)] {
    guard case .steps(let steps) = self else { return [] }
    return steps.compactMap { step in
      switch step {
      case .rename(let from, let to), .move(let from, let to):
        guard from.components.count == 1, to.components.count == 1 else { return nil }
        let (from, to) = (from.components[0], to.components[0])
        return isUp ? (from, to) : (to, from)
      default: return nil
      }
    }
  }
}

/// The rows of `state_migration`, and the values that migrations see.
extension StateTables {
  /// A migration between `version` and the next one.
  struct Step {
    var version: Int
    var migration: RecordMigration
  }

  /// Returns the version of the values.
  func version() throws -> Int {
    let last = try connection.number("SELECT coalesce(max(version), 1) FROM state_migration")
    guard let version = Int(exactly: last), (1...Int(Int32.max)).contains(version) else {
      throw SatchelError(.damaged, "state_migration.version: \(last) is not a version")
    }
    return version
  }

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
      if known < version {
        guard isEmpty else {
          throw SatchelError(
            .invalid, "state: no migration from version \(known) to \(known + 1) is declared")
        }
        // The last row has the version of the store.
        steps.append(Step(version: version - 1, migration: .steps([])))
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

  func migration(to version: Int, callback: RecordCallback.Body?) throws -> RecordMigration? {
    try connection.first(
      "SELECT steps FROM state_migration WHERE version = ?", .integer(Int64(version))
    ) { row in
      do {
        return try RecordMigration(json: JSONValue(parsing: row.bytes(0)), callback: callback)
      } catch let error as JSONError {
        throw SatchelError(
          .damaged, "state_migration.steps of version \(version): \(error)", underlying: error)
      }
    }
  }

  func note(_ migration: RecordMigration, _ kept: [KeptValue], to version: Int) throws {
    var object = JSONObject()
    for value in kept { object[value.path] = .array(value.value.map { [$0] } ?? []) }
    try connection.run(
      "INSERT OR REPLACE INTO state_migration(version, steps, kept) VALUES(?, ?, ?)",
      .integer(Int64(version)), .text(migration.json.text), .text(JSONValue.object(object).text))
  }

  func kept(to version: Int) throws -> [KeptValue] {
    let text = try connection.first(
      "SELECT kept FROM state_migration WHERE version = ?", .integer(Int64(version))
    ) { Array($0.bytes(0)) }
    guard let text else { return [] }
    do {
      guard case .object(let object) = try JSONValue(parsing: text) else {
        throw JSONError("is not an object")
      }
      return try object.map { path, values in
        guard case .array(let values) = values, values.count <= 1 else {
          throw JSONError("is not a kept value", pointer: JSONPath.pointer([path]))
        }
        return try KeptValue(path: path, bytes: values.first?.serialized() ?? [])
      }
    } catch let error as JSONError {
      throw SatchelError(.damaged, "state_migration.kept of version \(version): \(error)", underlying: error)
    }
  }

  func forgetMigration(to version: Int) throws {
    try connection.run("DELETE FROM state_migration WHERE version = ?", .integer(Int64(version)))
  }

  func hasPlainValues() throws -> Bool {
    try connection.number(
      """
      SELECT EXISTS(SELECT 1 FROM state_value WHERE space = ? AND is_sealed = 0 AND (key < ? OR key >= ?))
      """, .text(StateSpace.values), .text(StateName.reserved), .text(StateName.afterReserved)
    ) == 1
  }

  /// Returns the host's values that are not sensitive, by key.
  func plainValues() throws -> JSONObject {
    var values = JSONObject()
    try connection.each(
      """
      SELECT key, value FROM state_value WHERE space = ? AND is_sealed = 0 AND (key < ? OR key >= ?)
      ORDER BY key
      """, .text(StateSpace.values), .text(StateName.reserved), .text(StateName.afterReserved)
    ) { values[$0.text(0)] = try StateStore.value(of: Array($0.bytes(1)), at: "state/\($0.text(0))") }
    return values
  }
}
