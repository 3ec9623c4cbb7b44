import SatchelCore

/// Builds the next head.
extension SyncLogRun {
  /// A head that may be written.
  struct Prepared {
    var upload: SyncLogState.PendingUpload
    var compactions: Int64
    /// Packs that it replaces.
    var rewritten: [String]
    /// The number of assets whose entries it drops.
    var droppedAssets: Int
  }

  enum Preparation {
    case head(Prepared)
    /// There is nothing to write.
    case nothing
    /// The local state has changed meanwhile, or an upload has failed.
    case refused
  }

  /// The next head under construction, with the packs to upload before it.
  private struct Draft {
    var head: SyncHead
    /// The seal of the log; nil when it is not encrypted.
    let seal: SyncSeal?
    /// The inline entries, plain.
    var inline: [SyncEntry] = []
    var uploads: [SyncPackUpload] = []
    /// The segments among the uploads.
    var segments: [Segment] = []

    /// The size of an inline entry in the head.
    func size(_ envelope: SyncEnvelope) -> Int64 {
      SyncEntry.frameSize(envelope.bytes.count) + (seal == nil ? 0 : Int64(SyncSeal.overhead))
    }

    /// Adds a pack that is uploaded before the head.
    mutating func pack(_ frames: [UInt8], entries: Int, from: Int64, to: Int64) -> SyncPack {
      let upload = SyncPackUpload(frames, entries: entries, from: from, to: to, seal)
      uploads.append(upload)
      return upload.pack
    }

    /// Writes the inline entries into the head.
    mutating func sealInline() {
      head.inline = inline.map { entry in
        seal?.seal(entry) ?? SyncFrame(sequence: entry.sequence, bytes: entry.envelope.bytes)
      }
    }
  }

  /// Uploads the new packs of the next head, and records the head as a pending upload.
  mutating func prepare(
    _ changes: SyncChanges, _ upkeep: Upkeep, at held: inout SyncLogState
  ) throws -> Preparation {
    let state = changes.start
    let changes = SyncChanges(copying: changes)
    let number = (state.position?.number ?? 0) + 1
    let present = state.head
    var next = next(after: present, state, number: number)
    try date(&next, at: state)
    if changes.assets.isResealed { next.reseals = false }
    let named = changes.assets.located.values.map(\.location.object)
    var dropped: [AssetObject] = []
    if state.work.hasAssets || !changes.assets.isEmpty {
      let horizon = options.purges ? nil : next.horizon
      dropped = try ledger.addAssets(number: number, horizon: horizon, to: changes) { newObject(state) }
    }
    if next.horizon > present?.horizon ?? 0 { try ledger.exclude(through: next.horizon, from: changes) }
    var draft = Draft(head: next, seal: remote.seal(of: next))
    if let present {
      // Another process of the device may have adopted a new key since this one read the state.
      try remote.authorize(present)
      draft.inline = try remote.entries(of: present)
    }
    let rewritten = try compact(&draft, at: state, upkeep, bytes: min(state.bytes, changes.state.bytes))
    if changes.changes.isEmpty, rewritten.isEmpty, !upkeep.isWritten {
      // Another device has written the same, or nothing that a purge has found can be dropped or rewritten.
      (assets.suspects, assets.cleared, hasPurged) = ([], [], true)
      return .nothing
    }
    draft.head.missing.removeAll { name in !draft.head.packs.contains { $0.name == name } }
    append(changes, from: number, to: &draft)
    draft.sealInline()
    draft.head.count = changes.state.count
    draft.head.bytes = changes.state.bytes
    draft.head.digest = changes.state.digest
    let objects = upkeep.objects.filter { !named.contains($0) }
    if !upkeep.garbage.isEmpty || !objects.isEmpty { draft.head.fence = draft.head.position.number }
    let garbage = objects.filter { AssetRules.isGarbage($0, of: draft.head) }.union(dropped)
    let body = try remote.signed(&draft.head)
    for upload in draft.uploads {
      guard try remote.upload(upload) else { return .refused }
      segments += draft.segments.filter { $0.pack.name == upload.pack.name }
    }
    // Also those of an earlier attempt.
    if draft.head.packs != present?.packs ?? [] { try remote.makeDurable() }
    let upload = SyncLogState.PendingUpload(
      head: body, base: state.etag,
      deletes: (present?.retired ?? []) + upkeep.garbage
        + garbage.ordered().prefix(Self.maximumDeletes).map(\.description), parsed: draft.head)
    guard try ledger.begin(upload, changes, at: &held) else { return .refused }
    uploadedAssets = [:]
    let compactions = upkeep.isSwept ? 0 : state.compactions + (rewritten.isEmpty ? 0 : 1)
    let droppedAssets = changes.changes.count {
      $0.envelope.key.collection == SyncKey.asset && $0.envelope.content.isDeleted
    }
    return .head(
      Prepared(upload: upload, compactions: compactions, rewritten: rewritten, droppedAssets: droppedAssets))
  }

  /// The next head, initially with the entries of the current one.
  private func next(after present: SyncHead?, _ state: SyncLogState, number: Int64) -> SyncHead {
    let position = SyncHead.Position(
      epoch: state.position?.epoch ?? 1, log: state.position?.log ?? firstLog, number: number)
    guard var head = present else {
      var head = SyncHead(position: position)
      head.inlineFrom = number
      return head
    }
    head.position = position
    head.id = HexadecimalName.random(digits: 32)
    head.retired = []
    return head
  }

  // MARK: Entries

  /// Adds the changes: inline if they are small, otherwise as segments, each with its own sequence number.
  private func append(
    _ changes: SyncChanges, from number: Int64, to draft: inout Draft
  ) {
    let replaced = Set(changes.changes.map(\.envelope.key))
    draft.inline.removeAll { replaced.contains($0.envelope.key) }
    let size = changes.changes.reduce(0) { $0 + draft.size($1.envelope) }
    let inline = draft.inline.reduce(0) { $0 + draft.size($1.envelope) }
    if inline + size > sizes.inline, !draft.inline.isEmpty { moveInline(before: number, &draft) }
    if size <= sizes.inline {
      for index in changes.changes.indices { changes.changes[index].number = number }
      draft.inline += changes.changes.map { SyncEntry(sequence: number, envelope: $0.envelope) }
      return
    }
    let full = sizes.fullPack(max(changes.state.bytes, changes.expectedBytes))
    var (body, count, next) = ([UInt8](), 0, number)
    func close(_ draft: inout Draft) {
      addSegment(body, count: count, number: next, to: &draft)
      (body, count, next) = ([], 0, next + 1)
    }
    for index in changes.changes.indices {
      let envelope = changes.changes[index].envelope.bytes
      if count > 0, Int64(body.count) + SyncEntry.frameSize(envelope.count) > full { close(&draft) }
      changes.changes[index].number = next
      SyncEntry.write(envelope, at: 0, into: &body)
      count += 1
    }
    close(&draft)
    draft.head.position.number = next - 1
    draft.head.inlineFrom = next
  }

  /// Moves the inline entries into a pack.
  private func moveInline(before number: Int64, _ draft: inout Draft) {
    var frames: [UInt8] = []
    for entry in draft.inline { SyncEntry.write(entry.envelope.bytes, at: entry.sequence, into: &frames) }
    draft.head.packs.append(
      draft.pack(frames, entries: draft.inline.count, from: draft.head.inlineFrom, to: number - 1))
    draft.inline = []
    draft.head.inlineFrom = number
  }

  /// Adds a segment. Reuses the one of an earlier attempt that lost a race, if it has the same entries and no
  /// sweep can have deleted it.
  private func addSegment(
    _ frames: [UInt8], count: Int, number: Int64, to draft: inout Draft
  ) {
    let content = SHA256.digest(frames)
    let (log, fence) = (draft.head.origin ?? draft.head.position.log, draft.head.fence)
    if let known = segments.first(where: { $0.content == content && $0.log == log && fence <= $0.fence }) {
      var pack = known.pack
      (pack.from, pack.to, pack.sequence) = (number, number, number)
      draft.head.packs.append(pack)
      return
    }
    let upload = SyncPackUpload(
      frames, entries: count, from: number, to: number, sequence: number, draft.seal)
    draft.uploads.append(upload)
    draft.segments.append(Segment(pack: upload.pack, content: content, log: log, fence: fence))
    draft.head.packs.append(upload.pack)
  }

  // MARK: Compaction

  /// Replaces packs by ones with their live entries.
  ///
  /// - Returns: the replaced packs
  private func compact(
    _ draft: inout Draft, at state: SyncLogState, _ upkeep: Upkeep, bytes: Int64
  ) throws -> [String] {
    let (packs, horizon) = (draft.head.packs, draft.head.horizon)
    let required =
      packs.indices.filter { upkeep.broken.contains(packs[$0].name) }
      + packs.indices.filter { upkeep.dead.contains(packs[$0].name) }
    guard !required.isEmpty || sizes.needCompaction(packs, bytes: bytes) else { return [] }
    let live = try ledger.live(in: packs, above: horizon)
    let plan = SyncCompaction.plan(
      packs, live: live, bytes: bytes, required: required, horizon: horizon, sizes)
    var replaced: [String] = []
    for range in plan.rewrites.reversed() {
      guard let first = packs[range].first, let last = packs[range].last else { continue }
      let (frames, count) = try ledger.liveEntries(first.from...last.to, above: horizon, at: state)
      guard frames.count + SyncSeal.overhead <= SyncPack.maximumSize else { continue }
      let new = count > 0 ? [draft.pack(frames, entries: count, from: first.from, to: last.to)] : []
      draft.head.packs.replaceSubrange(range, with: new)
      replaced += packs[range].map(\.name)
    }
    draft.head.retired += replaced
    return replaced
  }

  // MARK: Horizon

  /// Dates the next head by that of the position, and raises its horizon, at most to the position: tombstones up to it
  /// are then dropped by all devices. The age of a head is that by the device's clock or by the remote's, whichever is
  /// less.
  func date(_ head: inout SyncHead, at state: SyncLogState) throws {
    guard let position = state.position, state.headBytes != nil else { return }
    let now = try ledger.now()
    let date = remote.date ?? now
    let pair = SyncTimes.Pair(number: position.number, time: max(now, date))
    head.times.add(pair, interval: sizes.timesInterval)
    let horizon = head.times.horizon(at: min(now, date), retention: sizes.retention)
    head.horizon = max(head.horizon, min(horizon, position.number))
    // By now all devices have read that another log was lost.
    if horizon > 0 { head.adopts = false }
  }

  /// The names of packs with dead entries, the tombstones up to the next head's horizon among them.
  func rewritable(_ head: SyncHead, at state: SyncLogState) throws -> Set<String> {
    var next = head
    try date(&next, at: state)
    let live = try ledger.live(in: head.packs, above: next.horizon)
    let order = SyncCompaction.Order(head.packs, live, horizon: next.horizon)
    return Set(order.rewritable { canRewrite(live[$0]) }.map { head.packs[$0].name })
  }

  /// Whether the live entries of a pack fit into a new one: their frames may be longer than in a segment.
  private func canRewrite(_ live: SyncLiveEntries) -> Bool {
    live.bytes + live.count * 16 + Int64(SyncSeal.overhead) <= SyncPack.maximumSize
  }

  // MARK: Upkeep

  /// The maintenance work of a commit.
  struct Upkeep {
    var isSwept = false
    /// Packs that nothing names.
    var garbage: [String] = []
    /// Objects of assets that nothing names.
    var objects: Set<AssetObject> = []
    /// Packs that the head names and that are missing or damaged.
    var broken: Set<String> = []
    /// Packs with replaced or deleted entries that a purge removes.
    var dead: Set<String> = []

    /// Whether a purge drops assets to which nothing refers.
    var dropsAssets = false

    /// Whether a head is written for it, even one without changes.
    var isWritten: Bool { !garbage.isEmpty || !objects.isEmpty || !broken.isEmpty }
    var isEmpty: Bool { !isWritten && dead.isEmpty && !dropsAssets }
  }

  /// The maximum number of objects of assets that one sync deletes.
  private static let maximumDeletes = 1000

  /// Whether there were so many commits with a compaction that the next one sweeps.
  func isSweepDue(_ state: SyncLogState) -> Bool { state.compactions >= sizes.sweepInterval && !hasSwept }

  mutating func findUpkeep(_ changes: SyncChanges) throws -> Upkeep {
    let state = changes.start
    guard state.upload == nil, state.phase == nil, let head = state.head else { return Upkeep() }
    var upkeep = Upkeep()
    let isDue = isSweepDue(state) && !changes.changes.isEmpty
    if options.sweeps || options.verifies || options.purges || isDue, !hasSwept { try sweep(head, &upkeep) }
    upkeep.broken = broken.union(head.missing).intersection(head.packs.map(\.name)).subtracting(rewritten)
    if options.purges, !changes.hasMore, !hasPurged {
      upkeep.dead = try rewritable(head, at: state)
      upkeep.dropsAssets = state.work.hasUnreferenced
    }
    return upkeep
  }

  /// Finds packs that no head names, and packs that the head names and that are missing or damaged.
  private mutating func sweep(_ head: SyncHead, _ upkeep: inout Upkeep) throws {
    let listed = try remote.names()
    let known = Set(head.packs.map(\.name)).union(head.retired).union(segments.map(\.pack.name))
    upkeep.isSwept = true
    upkeep.garbage = listed.keys.filter { !known.contains($0) }.ordered()
    broken = Set(head.packs(missingFrom: listed).map(\.name))
    upkeep.objects = try sweepAssets(head)
    if options.verifies {
      try read(head.packs[...].filter { !broken.contains($0.name) }, of: head, all: true) { pack, entries in
        if entries == nil { broken.insert(pack.name) }
      }
    }
    hasSwept = true
  }

  /// Deletes the packs that the last commit replaced. A reader of the previous head finds them missing, and
  /// reads the head again.
  func purgeRetired(_ state: SyncLogState?) throws {
    guard let head = state?.head, !head.retired.isEmpty else { return }
    try remote.delete(head.retired, strictly: true)
  }

  /// Writes a head that was prepared.
  ///
  /// - Returns: false when the outcome is unknown
  mutating func commit(
    _ upload: SyncLogState.PendingUpload, compactions: Int64, _ state: inout SyncLogState
  ) throws -> Bool {
    try probeOnce()
    guard let etag = try remote.replaceHead(upload.head, base: upload.base) else { return false }
    guard try ledger.confirm(upload, etag: etag, compactions: compactions, state: &state) else {
      return false
    }
    try finishPhase(&state)
    segments = []
    report.commits += 1
    try remote.delete(upload.deletes, strictly: options.purges)
    return true
  }
}
