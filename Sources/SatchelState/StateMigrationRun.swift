import SatchelCore
import SatchelJSON
import SatchelStorage

/// Migrates the values of a store to another version, inside a transaction.
struct StateMigrationRun {
  private let transaction: Transaction
  private let context: StateContext
  private let declaration: StateDeclaration

  init(_ transaction: Transaction, _ context: StateContext, declaration: StateDeclaration) {
    (self.transaction, self.context, self.declaration) = (transaction, context, declaration)
  }

  func migrate(to version: Int) throws {
    var work = StateWork(context, transaction)
    let versions = work.versions
    let stored = try versions.version()
    let before = try work.plainValues()
    var after = before
    let steps = try versions.migrations(from: stored, to: version, declaration, isEmpty: before.isEmpty)
    for step in steps {
      do {
        if version > stored {
          var kept: [KeptValue] = []
          try running(step.version + 1) {
            try step.migration.apply(to: &after, id: "state", version: step.version, kept: &kept)
          }
          try work.keep(step.migration, kept, to: step.version + 1)
        } else {
          let kept = try versions.kept(to: step.version + 1)
          try running(step.version) {
            try step.migration.invert(&after, id: "state", version: step.version, kept: kept)
          }
          try work.forgetMigration(to: step.version + 1)
        }
      } catch let error as JSONError {
        throw SatchelError(.invalid, "state: \(error)", underlying: error)
          .at(subject: Change.Subject.state.rawValue)
      }
    }
    let moved = steps.flatMap { $0.migration.moved(isUp: version > stored) }
    try write(after, over: before, moved: moved, &work)
    try work.finish()
    try work.setVersion(version)
  }

  /// Runs a migration, whose function must not write to the store.
  private func running(_ version: Int, _ body: () throws -> Void) throws {
    try context.database.migrating("the migration of the state to version \(version)", body)
  }

  /// Writes the values that differ.
  ///
  /// - Parameter moved: the values whose key changed: synchronized ones stay synchronized
  private func write(
    _ after: JSONObject, over before: JSONObject, moved: [(from: String, to: String)], _ work: inout StateWork
  ) throws {
    for (key, value) in after where before[key] != value {
      let name = try StateName(ofHost: key, as: "key")
      let id = StateID(.value, name)
      if try work.document(id).keyName != nil {
        throw SatchelError(.invalid, "state/\(key): is sensitive, and a migration would replace it").at(
          id.details)
      }
      let bytes = try StateStore.bytes(of: value, at: "state/\(key)")
      try work.apply(operation(.value(name), .set(bytes, isSealed: false)))
    }
    for (key, _) in before where after[key] == nil {
      try work.apply(operation(.value(StateName(sound: key)), .remove))
    }
    for (from, to) in moved where after[to] != nil && before[from] != nil {
      let (old, new) = (
        StateID(.value, StateName(sound: from)), StateID(.value, try StateName(ofHost: to, as: "key"))
      )
      guard let mark = try work.document(old).mark, try work.document(new).mark == nil, new.syncKey != nil
      else {
        continue
      }
      try work.mark(new, mark)
    }
  }

  private func operation(_ target: StateTarget, _ action: StateOperation.Action) -> StateOperation {
    StateOperation(target: target, action: action, time: transaction.now, writer: 0, sequence: 0, number: 0)
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
