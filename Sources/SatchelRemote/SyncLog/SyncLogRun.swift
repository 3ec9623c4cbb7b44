import SatchelCore

/// One sync of a store with its sync log: it reads the head, applies what is new, and replaces the head by one with the
/// local changes, until nothing is left to send. The head is replaced only under the condition that it is the one that
/// was read; of two devices that do so at once, one looks again.
package struct SyncLogRun {
  /// The outcome of a round.
  enum Round {
    /// Nothing is left to do.
    case done
    /// A head was written.
    case committed
    /// Another device, or a fault, was in the way.
    case again(SatchelError)
  }

  let ledger: any SyncLogLedger
  let remote: SyncLogRemote
  let options: SyncLogOptions
  let sizes: SyncSizes
  /// Called once before anything is written: throws for a store without conditional writes.
  let probe: () throws -> Void
  var report = SyncLogReport()
  /// Segments that were uploaded and that no head names yet.
  var segments: [Segment] = []
  private var isProbed = false
  private var hasSwept = false

  struct Segment {
    var pack: SyncPack
    /// That of the head for which it was uploaded: with a later one it may have been deleted.
    var fence: Int64
  }

  /// - Parameter probe: throws when the object store does not support conditional writes
  package init(
    _ ledger: SyncLogTables, with store: any ObjectStore, user: UserID, options: SyncLogOptions,
    probe: @escaping () throws -> Void
  ) throws {
    try self.init(ledger, sizes: ledger.sizes, with: store, user: user, options: options, probe: probe)
  }

  init(
    _ ledger: any SyncLogLedger, sizes: SyncSizes, with store: any ObjectStore, user: UserID,
    options: SyncLogOptions, probe: @escaping () throws -> Void
  ) throws {
    self.ledger = ledger
    self.sizes = sizes
    self.options = options
    self.probe = probe
    remote = try SyncLogRemote(
      store, user: user, retry: options.retry, cancellation: options.cancellation)
  }

  /// - Throws: `SatchelError`: `damaged` for a log that cannot be read and that `acceptsLoss` would give up; `newer`;
  ///   `unauthorized` for a log that is encrypted; `busy` when other devices were faster each time; `cancelled`;
  ///   `ObjectStoreError` of requests
  package mutating func run() throws -> SyncLogReport {
    let start = Clock.monotonic.now()
    var (failures, knowsHead) = (0, false)
    try ledger.reconcile()
    while true {
      try options.cancellation.check()
      while try ledger.continuePhase() {}
      switch try round(failures, knowsHead: knowsHead) {
      case .done: return report
      case .committed: (failures, knowsHead) = (0, true)
      case .again(let error):
        (failures, knowsHead) = (failures + 1, false)
        guard failures < options.rounds else { throw error }
        try remote.pause(afterFailures: failures, since: start, error)
      }
    }
  }

  private mutating func round(_ failures: Int, knowsHead: Bool) throws -> Round {
    do {
      if !knowsHead, let obstacle = try look(failures) { return .again(obstacle) }
      if let round = try resolve() { return round }
      try options.progress(.decide)
      while let decided = try ledger.decide() { report.add(decided) }
      return try send()
    } catch let error as SatchelError where error.code == .busy {
      return .again(error)
    }
  }

  static let raced = SatchelError(.busy, "other devices write to the sync log all the time; try again later")

  // MARK: Look

  /// Brings the entries to those of the remote's head.
  ///
  /// - Returns: nil when they are
  private mutating func look(_ failures: Int) throws -> SatchelError? {
    try options.progress(.look)
    let state = try ledger.state()
    // Half a pull, and a head that cannot be read, are read again.
    let isKnown = state.phase != .pull && state.head != nil
    switch try remote.look(unless: isKnown ? state.etag : nil) {
    case .unchanged: return nil
    case .absent:
      guard let position = state.position else { return nil }
      // The log is lost, or seems to be: a condition tells.
      try create(after: position, base: nil)
      return SatchelError(.unavailable, "the sync log was lost and is being made again; try again")
    case .damaged(let etag, let error):
      guard options.acceptsLoss else { throw error }
      try create(
        after: state.position ?? SyncHead.Position(epoch: Self.unknownEpoch, log: "", number: 0), base: etag)
      return error
    case .head(let head, let etag):
      try checkKey(head)
      if let position = state.position, head.isOlder(than: position) {
        // A stale answer, or a store that went back: a condition tells.
        if failures >= 3 { try takeOver(head, etag, after: position) }
        return SatchelError(.unavailable, "the remote has an older state than before; try again")
      }
      return try pull(head, etag, state, failures)
    }
  }

  func checkKey(_ head: SyncHead) throws {
    guard head.key == nil else {
      throw SatchelError(.unauthorized, "the sync log is encrypted with a key that this sync does not have")
    }
  }

  /// Above that of every log that a device may know, when a head cannot be read.
  private static let unknownEpoch: Int64 = 1 << 40

  // MARK: Resolve

  /// Finds out what became of a head that was about to be written.
  ///
  /// - Returns: nil when nothing is in the way of new changes
  private mutating func resolve() throws -> Round? {
    let state = try ledger.state()
    guard let upload = state.upload else {
      if try ledger.hasInFlight() { while try ledger.resolveUpload() {} }
      return nil
    }
    if upload.base == state.etag {
      // The same bytes under the same condition: nobody can tell the two writes apart.
      return try commit(upload, compactions: state.compactions) ? .committed : .again(Self.raced)
    }
    while try ledger.resolveUpload() {}
    return nil
  }

  // MARK: Send

  private mutating func send() throws -> Round {
    let changes = try ledger.changes()
    try ledger.note(changes.failures, changes.obsolete)
    for failure in changes.failures {
      report.failed.append(
        SyncLogReport.Failure(key: failure.key, code: failure.error.code, message: failure.error.message))
    }
    let sweep = try findGarbage(changes)
    guard !changes.changes.isEmpty || !sweep.garbage.isEmpty || !sweep.broken.isEmpty else { return .done }
    try probeOnce()
    guard let prepared = try prepare(changes, sweep) else { return .again(Self.raced) }
    guard try commit(prepared.upload, compactions: prepared.compactions) else { return .again(Self.raced) }
    for change in changes.changes { report.addSent(change.envelope) }
    try options.progress(.send(report.total(\.sent)))
    report.isCut = report.isCut || changes.isCut
    report.compacted += prepared.rewritten
    report.repaired += sweep.broken.count
    report.swept += sweep.garbage.count
    return .committed
  }

  private mutating func probeOnce() throws {
    if isProbed { return }
    try probe()
    isProbed = true
  }

  /// What a listing shows.
  struct Sweep {
    var isDone = false
    /// Packs that nothing names.
    var garbage: [String] = []
    /// Packs that are named, and missing or of another size.
    var broken: Set<String> = []
  }

  private mutating func findGarbage(_ changes: SyncChanges) throws -> Sweep {
    let state = changes.start
    let isDue = state.compactions >= sizes.sweepInterval && !changes.changes.isEmpty
    guard options.sweeps || isDue, !hasSwept, state.upload == nil, state.phase == nil, let head = state.head
    else { return Sweep() }
    var sweep = Sweep(isDone: true)
    let listed = try remote.names()
    let known = Set(head.packs.map(\.name)).union(head.retired).union(segments.map(\.pack.name))
    sweep.garbage = listed.keys.filter { !known.contains($0) }.sorted()
    sweep.broken = Set(head.packs.filter { listed[$0.name] != $0.bytes }.map(\.name))
    hasSwept = true
    return sweep
  }

  /// Writes a head that was prepared.
  ///
  /// - Returns: whether it is known to be written
  private mutating func commit(_ upload: SyncLogState.PendingUpload, compactions: Int64) throws -> Bool {
    try probeOnce()
    guard let etag = try remote.replaceHead(upload.head, base: upload.base) else { return false }
    guard try ledger.confirm(upload, etag, compactions: compactions) else { return false }
    while try ledger.continuePhase() {}
    segments = []
    report.commits += 1
    try remote.delete(upload.deletes)
    return true
  }
}
