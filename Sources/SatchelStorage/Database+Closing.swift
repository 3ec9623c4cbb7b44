import SatchelCore

extension Database {
  /// Adds a step that runs when the store closes, while calls are still accepted. The step must not retain
  /// the store, which is passed to it: a store that is released closes, too.
  package func whenClosing(_ step: @escaping @Sendable (Database) throws -> Void) {
    closingSteps.withLock { $0.append(step) }
  }

  /// Throws when closing would deadlock: `close` waits for calls in progress, and these wait for the host's
  /// callback that closes.
  ///
  /// - Throws: `.busy` inside a callback of the host that work for this store called
  package func refuseClosingInCallback() throws {
    try HostWork.refuseInExcludedCallback(path)
    try HostWork.refuse("\(path): the store cannot be closed", HostWork.Subject(ObjectIdentifier(self)))
  }

  /// Runs the closing steps, once.
  ///
  /// - Returns: the first error
  func runClosingSteps() -> (any Error)? {
    let steps = closingSteps.withLock { steps in
      defer { steps = [] }
      return steps
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
