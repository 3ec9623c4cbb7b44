import SatchelAssets
import SatchelCore
import SatchelRemote

/// One sync of a store with its sync log: reads the head, applies new entries, and replaces the head by one
/// with the local changes, until there are no changes to send. The head is replaced under If-Match with the
/// ETag that was read: of two concurrent devices, one fails and reads again.
///
/// It sends the changes that are pending when it begins to send, and those of at most two further commits, however
/// busily the app writes. So it ends: each commit makes less of what there was to do. It sends some of those changes,
/// reserves objects for assets of them, once for each asset, uploads assets again, drops some, or rewrites packs; a head
/// that does nothing of this is not written.
package struct SyncLogRun {
  /// The outcome of a round.
  enum Round {
    /// Nothing is left to do.
    case done
    /// A head was written.
    case committed
    /// Another device was faster, or a request failed.
    case again(SatchelError)
  }

  var ledger: any SyncLogLedger
  var remote: SyncLogRemote
  let options: SyncLogOptions
  let sizes: SyncSizes
  /// Called once before anything is written: throws for a store without conditional writes.
  let probe: () throws -> Void
  var report = SyncLogReport()
  /// Uploaded segments that no head names yet.
  var segments: [Segment] = []
  /// Packs that the head names and that are missing or damaged.
  var broken: Set<String> = []
  /// Those of them that this sync tried to rewrite.
  var rewritten: Set<String> = []
  /// The changes that the last round did not send because the key was missing: each round tries again.
  private var unsent: Set<SyncKey> = []
  /// The latest change when this sync began to send; nil before that, and after the log was read as a whole, which makes
  /// local entries pending that it has lost.
  var last: Int64?
  /// The commits of only later changes.
  private var further = 0
  private static let maximumFurther = 2
  /// Whether later changes were left for the next sync.
  private var withholds = false
  /// Whether the log may have lost its key: this sync decrypts it.
  var isDecrypting = false
  /// Whether nothing is written to the remote.
  var isPreview = false
  /// The assets as this sync knows them.
  var assets = AssetContext()
  /// Uploaded contents that no head names yet.
  var uploadedAssets: [AssetDigest: UploadedAsset] = [:]
  var hasLookedAtDoubts = false
  /// The name of the log that this sync begins in a remote without one.
  let firstLog = HexadecimalName.random(digits: 16)
  /// Whether the last commit has reserved objects, to which this sync uploads.
  private var hasReserved = false
  private var hasPostponed = false
  private var isProbed = false
  var hasSwept = false
  /// Whether a purge has found nothing that it could drop or rewrite.
  var hasPurged = false

  struct Segment {
    var pack: SyncPack
    /// The SHA-256 of its plain frames.
    var content: [UInt8]
    /// The log that it was sealed for.
    var log: String
    /// The sweep number of the head that it was uploaded for: after a later sweep it may have been deleted.
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
      store, user: user, keys: options.key.map { try SyncLogKey($0) }, retry: options.retry,
      cancellation: options.cancellation)
    self.ledger.keys = remote.keys
    assets.isHeld = !options.uploadsAssets
    assets.acceptsLoss = options.acceptsLoss
    assets.searches = options.sweeps || options.verifies
  }

  /// - Throws: `SatchelError`: `damaged` for an unreadable log, whose loss `acceptsLoss` accepts; `newer`;
  ///   `unauthorized` for a log with another key than this sync, or when only one of them has a key; `busy`
  ///   when other devices changed the log at each attempt; `cancelled`; `ObjectStoreError` of requests
  package mutating func run() throws -> SyncLogReport {
    let start = Clock.monotonic.now()
    var (failures, state) = (0, SyncLogState?.none)
    (last, further, withholds, hasPurged) = (nil, 0, false, false)
    assets.reserved = []
    while true {
      try options.cancellation.check()
      switch try round(&state, failures) {
      case .done:
        if options.purges { try purgeRetired(state) }
        if hasPostponed { report.add(postponed: try ledger.postponed()) }
        try downloadAssets()
        return report
      case .committed: failures = 0
      case .again(let error):
        (failures, state) = (failures + 1, nil)
        guard failures < options.rounds else { throw error }
        try remote.pause(afterFailures: failures, since: start, error)
      }
    }
  }

  /// - Parameter held: the state as the last commit has left it; nil where the head has to be read
  private mutating func round(_ held: inout SyncLogState?, _ failures: Int) throws -> Round {
    do {
      let knowsHead = held != nil
      var state = try held ?? ledger.state()
      defer { held = state }
      if knowsHead {
        if isDone(state) { return .done }
        try finishPhase(&state)
      } else if let obstacle = try look(failures, &state) {
        return .again(obstacle)
      }
      try ledger.reconcile(&state)
      if let round = try resolve(&state) { return round }
      try options.progress(.decide)
      while let decided = try ledger.decide(&state) { report.add(decided) }
      return try send(&state)
    } catch let error as SatchelError where error.code == .busy {
      return .again(error)
    }
  }

  /// Whether nothing was left to do when the last commit was confirmed.
  private func isDone(_ state: SyncLogState) -> Bool {
    let hasUpkeep = options.sweeps || options.verifies || options.purges || !broken.isEmpty
    return last != nil && !hasReserved && state.phase == nil && state.work.isDone && !hasUpkeep
      && state.head?.missing.isEmpty ?? false
  }

  static let raced = SatchelError(.busy, "other devices changed the sync log each time; try again later")

  func finishPhase(_ state: inout SyncLogState) throws { while try ledger.continuePhase(&state) {} }

  // MARK: Look

  /// Updates the local entries to the head of the remote. Nothing is changed, locally or remotely, before the
  /// key of the log is verified.
  ///
  /// - Returns: nil when they are
  mutating func look(_ failures: Int, _ held: inout SyncLogState) throws -> SatchelError? {
    try options.progress(.look)
    try authorize(held)
    let known = held.head
    if known.map(remote.has) ?? false { try finishPhase(&held) }
    // Beginning to pull fails if the position has moved since the request.
    let state = held
    var isKnown = known.map(remote.has) ?? false
    if isKnown {
      // An incomplete pull and an unreadable head are read again. Another process of the device may have
      // adopted a new key.
      isKnown =
        state.phase != .pull && state.head.map(remote.has) ?? false
        && (try? state.head.map(remote.entries)) != nil
    }
    // An object store may damage the head and keep its ETag.
    let etag = isKnown && !options.verifies ? state.etag : nil
    switch try remote.look(unless: etag, isExpected: state.position != nil) {
    case .unchanged: return nil
    case .absent:
      if let known { try remote.authorize(known) }
      try finishPhase(&held)
      guard let position = state.position else { return nil }
      try refuseEmptyRemote()
      // The log is lost, or seems to be: a conditional write decides.
      try create(after: position, base: nil, held)
      return SatchelError(.unavailable, "the sync log was lost and is being rebuilt; try again")
    case .damaged(let etag, _, .unencrypted) where isEncrypted(state):
      return try replace(etag, of: Self.downgrade, &held)
    case .damaged(let etag, let error, let owner):
      // The owner of the object store can write what no key has signed: it is replaced by a device that has read the
      // log with this sync's key, when the loss is accepted; and what has no key at all by any device with a key.
      let mayReplace = options.acceptsLoss && (owner == .unencrypted || hasRead(state))
      if !mayReplace { try remote.authorize(owner, known) }
      return try mend(etag, after: error, failures: failures, &held)
    case .invalid(let etag, let error):
      if let known { try remote.authorize(known) }
      return try replace(invalid: etag, error, state)
    case .head(let head, let etag) where head.isClosed:
      return try meetClosed(head, etag: etag, failures: failures, &held)
    case .head(let head, let etag) where isStrange(head, state):
      return try replace(etag, of: Self.strange(head), &held)
    case .head(let head, let etag):
      try remote.authorize(head)
      do {
        try Self.check(head.position, after: state.position)
      } catch let error as SatchelError {
        return try replace(invalid: etag, error, state)
      }
      try finishPhase(&held)
      if let position = state.position, head.isOlder(than: position) {
        // A stale response, or an object store that lost data: a conditional write decides.
        if failures >= 3 { try replace(older: head, etag, after: position, held) }
        return SatchelError(.unavailable, "the remote returned an older version than before; try again")
      }
      return try pull(head, etag: etag, after: state, failures: failures, &held)
    }
  }

  /// Whether the log has to be encrypted, because this device has read it with a key.
  func isEncrypted(_ state: SyncLogState) -> Bool { state.key != nil && !isDecrypting }

  /// - Throws: `SatchelError` (`unauthorized`) for a sync without a key of a log that was read with one
  func authorize(_ state: SyncLogState) throws {
    if remote.keys == nil, isEncrypted(state) {
      throw SatchelError(
        .unauthorized, "the sync log was encrypted when it was last read, and this sync has no key")
    }
  }

  // MARK: Resolve

  /// Determines the outcome of a pending head.
  ///
  /// - Returns: nil when new changes can be sent
  private mutating func resolve(_ state: inout SyncLogState) throws -> Round? {
    // As above: entries that are confirmed without the log's key would not belong to that log.
    if let head = state.head { try remote.authorize(head) }
    guard let upload = state.upload else {
      if state.work.hasInFlight { while try ledger.resolveUpload(&state) {} }
      return nil
    }
    // A head with another key is not written again: the condition of the next write decides whether it was
    // written.
    if upload.base == state.etag, let head = try? SyncHead(parsing: upload.head), remote.has(keyOf: head) {
      // The same bytes under the same condition: the two writes are indistinguishable.
      return try commit(upload, compactions: state.compactions, &state) ? .committed : .again(Self.raced)
    }
    while try ledger.resolveUpload(&state) {}
    return nil
  }

  // MARK: Send

  private mutating func send(_ state: inout SyncLogState) throws -> Round {
    try lookAtDoubts(state)
    // With the sweep that comes with the next changes.
    if state.work.hasPending, isSweepDue(state) { assets.searches = true }
    let changes = try ledger.changes(&state, assets)
    hasPostponed = changes.hasPostponed
    try ledger.note(changes.failures, changes.obsolete)
    forgetUnsent()
    for failure in changes.failures {
      report.failed.append(SyncFailure(failure.key, failure.error))
      if failure.error.code == .unauthorized { unsent.insert(failure.key) }
    }
    report.failed += changes.waiting
    unsent.formUnion(changes.waiting.map(\.key))
    let first = last ?? changes.latest
    last = first
    let isFurther = changes.areAll(after: first)
    // Also what is only reserved for such changes, which would be dropped again.
    withholds = withholds || isFurther && further >= Self.maximumFurther
    if withholds { changes.withhold() }
    // The changes are collected again, without those whose assets could not be uploaded.
    guard try upload(&changes.assets, at: changes.start) else { return try send(&state) }
    let upkeep = try findUpkeep(changes)
    guard !changes.changes.isEmpty || !upkeep.isEmpty || !changes.assets.isEmpty else { return .done }
    try probeOnce()
    if changes.start.position?.number ?? 0 > SyncHead.Position.lastNumber {
      _ = try rewrite(remote.keys)
      return .again(Self.raced)
    }
    let prepared: Prepared
    switch try prepare(changes, upkeep, at: &state) {
    case .head(let head): prepared = head
    case .nothing: return try send(&state)
    case .refused: return .again(Self.raced)
    }
    guard try commit(prepared.upload, compactions: prepared.compactions, &state) else {
      return .again(Self.raced)
    }
    // Packs may have to be rewritten before them.
    rewritten.formUnion(
      prepared.rewritten.isEmpty ? upkeep.broken : upkeep.broken.intersection(prepared.rewritten))
    if isFurther { further += 1 }
    hasReserved = !changes.assets.reservations.isEmpty
    assets.reserved.formUnion(changes.assets.reservations.keys)
    (assets.suspects, assets.cleared, assets.searches) = ([], [], false)
    if !hasReserved { assets.reseals = false }
    for change in changes.changes { report.addSent(change.envelope) }
    let plan = changes.assets
    report.assets.repaired += plan.repairs.count { plan.located[$0] != nil }
    report.assets.dropped += prepared.droppedAssets
    try options.progress(.send(report.sent))
    report.isCut = report.isCut || changes.isCut
    report.compacted += prepared.rewritten.count
    report.purged += prepared.rewritten.count { upkeep.dead.contains($0) }
    report.repaired += prepared.rewritten.count { upkeep.broken.contains($0) }
    report.swept += upkeep.garbage.count + upkeep.objects.count
    if upkeep.isSwept { try abortUploads(state) }
    return .committed
  }

  /// Removes failures from the report that the next round retries, or reports again.
  mutating func forgetUnsent() {
    report.failed.removeAll { unsent.contains($0.key) }
    unsent = []
  }

  mutating func probeOnce() throws {
    if isProbed { return }
    try probe()
    isProbed = true
  }
}
