import SatchelCore

/// Reading the log, and making it again where it was lost.
extension SyncLogRun {
  /// Reads what is new in a head, or all of it.
  ///
  /// - Returns: nil when the entries are those of the head
  mutating func pull(
    _ head: SyncHead, _ etag: ETag, _ state: SyncLogState, _ failures: Int
  ) throws -> SatchelError? {
    var isNew = true
    if let position = state.position {
      isNew =
        position.log != head.position.log || position.epoch != head.position.epoch
        || position.number < head.horizon
    }
    for all in isNew ? [true] : [false, true] {
      var pull = try ledger.beginPull(all: all, from: state)
      let missing = try store(head, &pull)
      if !missing.isEmpty { return try lose(missing, head, etag, pull, failures) }
      if try ledger.complete(pull, head, etag) {
        while try ledger.continuePhase() {}
        return nil
      }
      if all { return try lose([], head, etag, pull, failures) }
    }
    return nil
  }

  /// Stores the entries of a head that are new.
  ///
  /// - Returns: the packs that cannot be read
  private func store(_ head: SyncHead, _ pull: inout SyncPull) throws -> [SyncPack] {
    let known = pull.known
    var (wanted, missing) = (head.packs.filter { $0.to > known }[...], [SyncPack]())
    let total = wanted.count
    while !wanted.isEmpty {
      let part = Array(wanted.prefix(max(options.parallel, 1)))
      wanted = wanted.dropFirst(part.count)
      for (pack, entries) in zip(part, try read(part)) {
        guard let entries else {
          missing.append(pack)
          continue
        }
        try store(entries, &pull)
      }
      try options.progress(.pull(done: total - wanted.count, total: total))
    }
    try store(head.inline, &pull)
    return missing
  }

  private func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws {
    let known = pull.known
    var rest = entries.filter { $0.sequence > known }[...]
    while !rest.isEmpty {
      try ledger.store(Array(rest.prefix(sizes.rowsOfStep)), &pull)
      rest = rest.dropFirst(sizes.rowsOfStep)
    }
  }

  /// Reads packs at the same time.
  private func read(_ packs: [SyncPack]) throws -> [[SyncEntry]?] {
    let remote = remote
    let results = Locked<[Int: Result<[SyncEntry]?, any Error>]>([:])
    inParallel(Array(packs.indices), limit: options.parallel) { index in
      let result = Result { try remote.entries(of: packs[index]) }
      results.withLock { $0[index] = result }
    }
    return try packs.indices.map { index in try results.withLock { $0[index] }?.get() }
  }

  // MARK: Losses

  /// A part of the log cannot be read, or is not what the head says. Another device may have it, and write it again.
  private mutating func lose(
    _ packs: [SyncPack], _ head: SyncHead, _ etag: ETag, _ pull: SyncPull, _ failures: Int
  ) throws -> SatchelError? {
    let names = packs.map { "\($0.name) (\($0.entries) entries)" }.joined(separator: ", ")
    let error = SatchelError(
      .damaged,
      packs.isEmpty
        ? "the entries of the sync log are not those that its head counts; to go on with those that there are, accept the loss"
        : "packs of the sync log are missing or damaged: \(names); sync a device that has them, or accept the loss"
    )
    // The head may be another one by now, that does not name them.
    guard failures >= 3 else { return error }
    report.losses = packs.map { SyncLogReport.Loss(pack: $0.name, entries: $0.entries) }
    guard options.acceptsLoss else { throw error }
    try takeOver(head, etag, pull)
    return error
  }

  /// Makes what could be read a new log, which all devices then join with what they have.
  private func takeOver(_ head: SyncHead, _ etag: ETag, _ pull: SyncPull) throws {
    let known = try ledger.state().position
    var new = SyncHead(position: Self.position(after: head.position, known))
    let full = sizes.fullPack(head.bytes)
    var row: Int64 = 0
    while true {
      let part = try ledger.survivors(of: pull, after: row, limit: full)
      if part.entries.isEmpty { break }
      row = part.row
      var body: [UInt8] = []
      for entry in part.entries {
        SyncEntry.write(entry.envelope, at: 0, into: &body)
        new.digest.add(entry.key, entry.envelope)
        new.count += 1
        new.bytes += Int64(entry.envelope.count)
      }
      let number = Int64(new.packs.count) + 1
      let pack = SyncPack(
        name: SyncName.random(), from: number, to: number, sequence: number, body: body,
        entries: part.entries.count)
      guard try remote.upload(pack, body) else { return }
      new.packs.append(pack)
    }
    new.position.number = max(new.position.number, Int64(new.packs.count) + 1)
    new.inlineFrom = new.position.number + 1
    new.others = head.others
    _ = try remote.replaceHead(new.serialized(), base: etag)
  }

  /// Makes an older head the present one, in a new epoch: where the condition is met, the store really went back, and all
  /// devices join the new log.
  func takeOver(_ head: SyncHead, _ etag: ETag, after known: SyncHead.Position) throws {
    var head = head
    head.position = Self.position(after: head.position, known)
    head.id = SyncName.random()
    _ = try remote.replaceHead(head.serialized(), base: etag)
  }

  /// Makes an empty log of the next epoch, where there is no head, or one that cannot be read.
  func create(after known: SyncHead.Position, base: ETag?) throws {
    let head = SyncHead(position: Self.position(after: known, nil))
    _ = try remote.replaceHead(head.serialized(), base: base)
  }

  private static func position(
    after one: SyncHead.Position, _ other: SyncHead.Position?
  ) -> SyncHead.Position {
    SyncHead.Position(
      epoch: max(one.epoch, other?.epoch ?? 0) + 1, log: SyncName.randomLog(),
      number: max(one.number, other?.number ?? 0) + 1)
  }
}
