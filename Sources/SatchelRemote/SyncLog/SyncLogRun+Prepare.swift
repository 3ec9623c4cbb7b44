import SatchelCore

/// Making the next head.
extension SyncLogRun {
  /// A head that may be written.
  struct Prepared {
    var upload: SyncLogState.PendingUpload
    var compactions: Int64
    /// Packs that it replaces.
    var rewritten: Int
  }

  /// The next head while it is made, with what has to be uploaded before it.
  private struct Draft {
    var head: SyncHead
    var uploads: [(pack: SyncPack, body: [UInt8], isSegment: Bool)] = []

    mutating func add(_ pack: SyncPack, _ body: [UInt8]) { uploads.append((pack, body, false)) }
  }

  /// Uploads what the next head names, and notes that it is about to be written.
  ///
  /// - Returns: nil when something has changed meanwhile, or an upload has failed
  mutating func prepare(_ changes: SyncChanges, _ sweep: Sweep) throws -> Prepared? {
    let state = changes.start
    var changes = changes
    let number = (state.position?.number ?? 0) + 1
    let present = state.head
    var draft = Draft(head: Self.next(present, state, number))
    let rewritten = try compact(&draft, state, sweep)
    append(&changes, number, &draft)
    draft.head.count = changes.state.count
    draft.head.bytes = changes.state.bytes
    draft.head.digest = changes.state.digest
    if !sweep.garbage.isEmpty { draft.head.fence = draft.head.position.number }
    let body = draft.head.serialized()
    guard body.count <= SyncHead.maximumSize, draft.head.packs.count <= SyncPack.maximumCount else {
      throw SatchelError(.full, "the sync log has reached its limit of \(SyncPack.maximumCount) packs")
    }
    for upload in draft.uploads {
      guard try remote.upload(upload.pack, upload.body) else { return nil }
      if upload.isSegment { segments.append(Segment(pack: upload.pack, fence: present?.fence ?? 0)) }
    }
    let upload = SyncLogState.PendingUpload(
      head: body, base: state.etag, deletes: (present?.retired ?? []) + sweep.garbage)
    guard try ledger.begin(upload, changes, at: state) else { return nil }
    let compactions = sweep.isDone ? 0 : state.compactions + (rewritten > 0 ? 1 : 0)
    return Prepared(upload: upload, compactions: compactions, rewritten: rewritten)
  }

  /// The head that follows, still with the entries of the present one.
  private static func next(_ present: SyncHead?, _ state: SyncLogState, _ number: Int64) -> SyncHead {
    let position = SyncHead.Position(
      epoch: state.position?.epoch ?? 1, log: state.position?.log ?? SyncName.randomLog(), number: number)
    guard var head = present else {
      var head = SyncHead(position: position)
      head.inlineFrom = number
      return head
    }
    head.position = position
    head.id = SyncName.random()
    head.retired = []
    return head
  }

  // MARK: Entries

  /// Adds the changes: inline if they are small, else as segments, each with a number of its own.
  private func append(_ changes: inout SyncChanges, _ number: Int64, _ draft: inout Draft) {
    let replaced = Set(changes.changes.map(\.envelope.key))
    draft.head.inline.removeAll { replaced.contains($0.envelope.key) }
    let size = changes.changes.reduce(0) { $0 + SyncEntry.frameSize($1.envelope.bytes.count) }
    let inline = draft.head.inline.reduce(0) { $0 + SyncEntry.frameSize($1.envelope.bytes.count) }
    if inline + size > sizes.inline, !draft.head.inline.isEmpty { moveInline(before: number, &draft) }
    if size <= sizes.inline {
      for index in changes.changes.indices { changes.changes[index].number = number }
      draft.head.inline += changes.changes.map { SyncEntry(sequence: number, envelope: $0.envelope) }
      return
    }
    let full = sizes.fullPack(changes.state.bytes)
    var (body, count, next) = ([UInt8](), 0, number)
    func close(_ draft: inout Draft) {
      addSegment(body, count, next, &draft)
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

  /// Makes the inline entries a pack.
  private func moveInline(before number: Int64, _ draft: inout Draft) {
    var body: [UInt8] = []
    for entry in draft.head.inline { SyncEntry.write(entry.envelope.bytes, at: entry.sequence, into: &body) }
    let pack = SyncPack(
      name: SyncName.random(), from: draft.head.inlineFrom, to: number - 1, sequence: 0, body: body,
      entries: draft.head.inline.count)
    draft.add(pack, body)
    draft.head.packs.append(pack)
    draft.head.inline = []
    draft.head.inlineFrom = number
  }

  /// Adds a segment: the one of an earlier attempt that lost a race, if that has the same bytes and no sweep can have
  /// deleted it.
  private func addSegment(_ body: [UInt8], _ count: Int, _ number: Int64, _ draft: inout Draft) {
    var pack = SyncPack(
      name: SyncName.random(), from: number, to: number, sequence: number, body: body, entries: count)
    let fence = draft.head.fence
    if let known = segments.first(where: { $0.pack.sha256 == pack.sha256 && fence <= $0.fence }) {
      pack.name = known.pack.name
    } else {
      draft.uploads.append((pack, body, true))
    }
    draft.head.packs.append(pack)
  }

  // MARK: Compaction

  /// Replaces packs by ones with their live entries.
  ///
  /// - Returns: the number of replaced packs
  private func compact(_ draft: inout Draft, _ state: SyncLogState, _ sweep: Sweep) throws -> Int {
    let packs = draft.head.packs
    guard !sweep.broken.isEmpty || SyncCompaction.isDue(packs, bytes: state.bytes, sizes) else { return 0 }
    let live = try ledger.liveBytes(of: packs)
    let broken = packs.indices.filter { sweep.broken.contains(packs[$0].name) }
    let plan = SyncCompaction.plan(packs, live: live, bytes: state.bytes, broken: broken, sizes)
    var replaced = 0
    for range in plan.rewrites.reversed() {
      guard let first = packs[range].first, let last = packs[range].last else { continue }
      let (body, count) = try ledger.liveEntries(first.from...last.to, at: state)
      guard body.count <= SyncPack.maximumSize else { continue }
      var new: [SyncPack] = []
      if count > 0 {
        let pack = SyncPack(
          name: SyncName.random(), from: first.from, to: last.to, sequence: 0, body: body, entries: count)
        draft.add(pack, body)
        new = [pack]
      }
      draft.head.packs.replaceSubrange(range, with: new)
      draft.head.retired += packs[range].map(\.name)
      replaced += range.count
    }
    return replaced
  }
}
