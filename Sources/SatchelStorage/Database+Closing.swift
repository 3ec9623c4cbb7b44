extension Database {
  /// Adds what is to be done when the store closes, while calls still get through. It must not keep hold of the
  /// store, which is handed to it: a store that is given up closes, too.
  package func whenClosing(_ step: @escaping @Sendable (Database) throws -> Void) {
    closingSteps.withLock { $0.append(step) }
  }

  /// Closing waits for calls under way, which would wait for the host's function that closes.
  ///
  /// - Throws: `.busy` in a function of the host's that work for this store calls
  package func refuseClosingInCallback() throws {
    try HostWork.refuseInClock(path)
    try HostWork.refuse("\(path): the store cannot be closed", HostWork.Subject(ObjectIdentifier(self)))
  }

  /// Does what is to be done, once.
  ///
  /// - Returns: what the first step met that failed
  func takeClosingSteps() -> (any Error)? {
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

  /// Tells what is no part of a commit: that something was kept elsewhere, or could not be kept.
  package func tell(subject: String, keys: [String]) {
    changes.tell(Change(subject: subject, keys: keys, place: nil, isOwn: true, revision: 0))
  }
}
