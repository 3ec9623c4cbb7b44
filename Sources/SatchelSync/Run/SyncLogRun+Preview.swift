import SatchelCore

/// Computes what a sync would do.
extension SyncLogRun {
  /// Reads the new entries of the remote, decides about them, and lists the changes to send. Nothing is
  /// written to the remote; the store is changed as by a sync, so it must be a copy.
  ///
  /// - Throws: as `run` does, and `unavailable` for a lost log that a sync would rebuild
  package mutating func preview() throws -> SyncLogReport {
    let start = Clock.monotonic.now()
    var (state, failures) = (try ledger.state(), 0)
    while true {
      try options.cancellation.check()
      guard let obstacle = try lookOnly(&state) else { break }
      failures += 1
      guard failures < options.rounds else { throw obstacle }
      try remote.pause(afterFailures: failures, since: start, obstacle)
    }
    try finishPhase(&state)
    try ledger.reconcile(&state)
    if state.work.hasInFlight { while try ledger.resolveUpload(&state) {} }
    while let decided = try ledger.decide(&state) {
      report.add(decided)
      report.plan(decided)
    }
    // Merged entries are sent as well, and listed once.
    let merged = Set(report.planned.filter { $0.action == .merge }.map(\.key))
    let (planned, failed) = try ledger.preview()
    report.planned += planned.filter { !merged.contains($0.key) }
    report.failed += failed
    return report
  }

  private mutating func lookOnly(_ held: inout SyncLogState) throws -> SatchelError? {
    held = try ledger.state()
    let state = held
    try authorize(state)
    switch try remote.look(unless: nil, isExpected: state.position != nil) {
    case .unchanged: return nil
    case .absent:
      guard state.position != nil else { return nil }
      try refuseEmptyRemote()
      return SatchelError(.unavailable, "the sync log was lost; a sync rebuilds it")
    case .damaged(_, let error, let owner):
      try remote.authorize(owner, state.head)
      if state.position == nil { throw Self.unknown(error) }
      return SatchelError(.unavailable, "\(error.message); a sync rebuilds the sync log")
    case .invalid(_, let error): return error
    case .head(let head, _) where head.isClosed:
      guard options.reopens else { throw Self.closed }
      return nil
    case .head(let head, _) where isStrange(head, state): throw Self.strange(head)
    case .head(let head, let etag):
      try remote.authorize(head)
      try Self.check(head.position, after: state.position)
      try finishPhase(&held)
      if let position = state.position, head.isOlder(than: position) {
        return SatchelError(.unavailable, "the remote returned an older version than before; try again")
      }
      // Losses are reported, and not repaired.
      return try pull(head, etag: etag, after: state, failures: 0, &held)
    }
  }
}
