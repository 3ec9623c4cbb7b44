import SatchelCore

extension Database {
  /// Adds a step that runs when the store closes, while calls are still accepted; at once when the others have run. The
  /// step must not retain the store, which is passed to it: a store that is released closes, too.
  package func whenClosing(_ step: @escaping @Sendable (Database) throws -> Void) {
    let isLate = closingSteps.withLock { steps in
      steps?.append(step)
      return steps == nil
    }
    // For a subject that is first used while the store closes: nothing is pending yet, and it refuses what would be.
    if isLate { try? step(self) }
  }

  /// Throws when closing would deadlock: `close` waits for calls in progress, and these wait for the host's
  /// callback that closes.
  ///
  /// - Throws: `.busy` inside a callback of the host that work for this store called
  package func refuseClosingInCallback() throws {
    try HostWork.refuseInExcludedCallback(path)
    try HostWork.refuse("\(path): the store cannot be closed", HostWork.Resource(ObjectIdentifier(self)))
  }

  /// Runs the closing steps, once.
  ///
  /// - Returns: the first error
  func runClosingSteps() -> (any Error)? {
    let steps = closingSteps.withLock { steps in
      defer { steps = nil }
      return steps ?? []
    }
    var failure: (any Error)?
    for step in steps {
      do { try step(self) } catch { failure = failure ?? error }
    }
    return failure
  }

  /// Notifies observers of an event that is not part of a commit: data was kept elsewhere, or could not be
  /// kept.
  package func notify(_ event: Change.Event, of subject: Change.Subject) {
    changes.notify(
      Change(subject: subject, keys: [event.rawValue], place: nil, isOwn: true, revision: 0))
  }
}
