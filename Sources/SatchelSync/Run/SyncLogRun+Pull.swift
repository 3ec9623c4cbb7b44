import SatchelCore
import SatchelRemote

/// Reads the log, and rebuilds it after a loss.
extension SyncLogRun {
  /// Reads the new entries of a head, or all of them.
  ///
  /// - Returns: nil when the local entries match the head
  mutating func pull(
    _ head: SyncHead, etag: ETag, after seen: SyncLogState, failures: Int, _ state: inout SyncLogState
  ) throws -> SatchelError? {
    let known = seen.position
    let isSameLog = known?.log == head.position.log && known?.epoch == head.position.epoch
    let dropped = known.map { head.droppedThrough(from: $0) } ?? 0
    for all in isSameLog && dropped == 0 ? [false, true] : [true] {
      var pull = try ledger.beginPull(all: all, from: seen)
      (pull.horizon, pull.droppedThrough) = (head.horizon, dropped)
      let missing = try store(head, &pull, all: options.acceptsLoss && failures >= 3)
      if !missing.isEmpty {
        return try lose(missing, of: head, etag: etag, pull, failures: failures, at: state)
      }
      if try ledger.complete(pull, at: head, etag: etag, state: &state) {
        try finishPhase(&state)
        if all { last = nil }
        return nil
      }
      if all { return try lose([], of: head, etag: etag, pull, failures: failures, at: state) }
    }
    return nil
  }

  /// Stores the new entries of a head.
  ///
  /// - Parameter all: whether to try all packs, because those that are not read are given up
  /// - Returns: the packs that cannot be read
  private func store(_ head: SyncHead, _ pull: inout SyncPull, all: Bool) throws -> [SyncPack] {
    let known = pull.known
    let wanted = head.packs.filter { $0.to > known }
    var (missing, done) = ([SyncPack](), 0)
    try read(wanted, of: head, all: all) { pack, entries in
      done += 1
      try options.progress(.pull(done: done, total: wanted.count))
      guard let entries else { return missing.append(pack) }
      try store(entries, &pull)
    }
    try store(remote.entries(of: head), &pull)
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

  /// The number of unreadable packs after which the others are not tried, or are tried once.
  static let maximumUnreadable = 16

  /// Reads packs, several at the same time.
  ///
  /// - Parameters:
  ///   - all: whether to go on after `maximumUnreadable` unreadable packs
  ///   - body: called for each in their order; with nil when it is missing or damaged
  func read(
    _ packs: [SyncPack], of head: SyncHead, all: Bool, _ body: (SyncPack, [SyncEntry]?) throws -> Void
  ) throws {
    let (remote, seal) = (remote, remote.seal(of: head))
    var (rest, unreadable) = (packs[...], 0)
    while !rest.isEmpty {
      let isLimited = unreadable >= Self.maximumUnreadable
      if isLimited, !all { return }
      let part = Array(rest.prefix(max(options.parallel, 1)))
      rest = rest.dropFirst(part.count)
      let results = Locked<[Int: Result<[SyncEntry]?, any Error>]>([:])
      inParallel(Array(part.indices), limit: options.parallel) { index in
        let result = Result {
          try remote.entries(of: part[index], seal, attempts: isLimited ? 1 : SyncLogRemote.attempts)
        }
        results.withLock { $0[index] = result }
      }
      for index in part.indices {
        let entries = try results.withLock { $0.removeValue(forKey: index) }?.get() ?? nil
        if entries == nil { unreadable += 1 }
        try body(part[index], entries)
      }
    }
  }

  // MARK: Losses

  /// A part of the log is unreadable, or does not match the head. Another device may have it, and rewrite it.
  private mutating func lose(
    _ packs: [SyncPack], of head: SyncHead, etag: ETag, _ pull: SyncPull, failures: Int,
    at state: SyncLogState
  ) throws -> SatchelError? {
    var names = packs.map { "\($0.name) (\($0.entries) entries)" }.joined(separator: ", ")
    if packs.count >= Self.maximumUnreadable { names += " and possibly others" }
    let error = SatchelError(
      .damaged,
      packs.isEmpty
        ? "the entries of the sync log differ from the count and the digest in its head; to continue without the missing ones, accept the loss"
        : "packs of the sync log are missing or damaged: \(names); sync a device that has them, or accept the loss"
    )
    // The current head may no longer name them.
    guard failures >= 3 else { return error }
    guard case .unchanged = try remote.look(unless: etag, isExpected: true) else { return Self.raced }
    report.losses = packs.map { SyncLogReport.Loss(pack: $0.name, entries: $0.entries) }
    guard options.acceptsLoss else {
      try listMissing(packs, in: head, etag: etag)
      throw error
    }
    try rebuild(head, etag: etag, from: pull, at: state)
    return error
  }

  /// Lists unreadable packs in the head, so that a device that has their entries rewrites them at its next
  /// sync: it would not read packs again while the head is unchanged.
  private mutating func listMissing(_ packs: [SyncPack], in head: SyncHead, etag: ETag) throws {
    let missing = Set(head.missing).union(packs.map(\.name)).intersection(head.packs.map(\.name))
    guard missing.count > Set(head.missing).count else { return }
    try probeOnce()
    var head = head
    head.position.number = min(head.position.number + 1, SyncPack.numbers.upperBound)
    head.id = HexadecimalName.random(digits: 32)
    head.missing = missing.sorted()
    _ = try remote.replaceHead(remote.signed(&head), base: etag)
  }

  /// Writes the readable entries as a new log, to which all devices then send their other entries.
  private func rebuild(
    _ head: SyncHead, etag: ETag, from pull: SyncPull, at state: SyncLogState
  ) throws {
    let position = head.position.next(after: state.position, isRenumbered: true)
    guard var new = try writeLog(pull, at: position, bytes: head.bytes, to: remote)?.head else { return }
    (new.others, new.successions) = (head.others, head.successions)
    _ = try remote.replaceHead(remote.signed(&new), base: etag)
  }

  /// Continues from an older head. If an old head was restored without its packs, which were deleted since,
  /// the log is rebuilt from the entries of this device, which has read a later head.
  func replace(
    older head: SyncHead, _ etag: ETag, after known: SyncHead.Position, _ state: SyncLogState
  ) throws {
    let isSameLog = head.position.epoch == known.epoch && head.position.log == known.log
    if isSameLog, try !head.packs(missingFrom: remote.names()).isEmpty {
      return try create(after: known, base: etag, state)
    }
    try adopt(head, etag, after: known)
  }

  /// Writes an older head again, in a new epoch. When the condition holds, the object store has really lost
  /// data, and all devices join the new log.
  private func adopt(_ head: SyncHead, _ etag: ETag, after known: SyncHead.Position) throws {
    var head = head
    // The packs stay as they are.
    if head.key != nil { head.origin = head.origin ?? head.position.log }
    head.follows = head.position
    head.position = head.position.next(after: known, isRenumbered: false)
    head.id = HexadecimalName.random(digits: 32)
    head.fence = head.position.number
    _ = try remote.replaceHead(remote.signed(&head), base: etag)
  }

  /// Writes an empty log of the next epoch, where the head is missing or unreadable.
  func create(after known: SyncHead.Position, base: ETag?, _ state: SyncLogState) throws {
    var head = SyncHead(beginning: known.next(isRenumbered: true))
    head.successions = state.head?.successions ?? []
    _ = try remote.replaceHead(remote.signed(&head), base: base)
  }

  /// The head of a new log whose packs were uploaded.
  struct NewLog {
    var head: SyncHead
    /// The digest of its entries under the current key.
    var digest: SyncDigest
  }

  /// Uploads all entries as the packs of a new log, each with its own sequence number.
  ///
  /// - Parameters:
  ///   - bytes: of all entries, about
  ///   - remote: the remote with the keys of the new log
  /// - Returns: nil when an upload has failed
  func writeLog(
    _ pull: SyncPull, at position: SyncHead.Position, bytes: Int64, to remote: SyncLogRemote
  ) throws -> NewLog? {
    var new = NewLog(
      head: SyncHead(beginning: position), digest: SyncDigest(key: self.remote.keys?.digest))
    new.head.digest = SyncDigest(key: remote.keys?.digest)
    let (full, seal) = (sizes.fullPack(bytes), new.head.seal(remote.keys, remote.user))
    var (row, next) = (Int64(0), position.number)
    while true {
      try options.cancellation.check()
      let part = try ledger.survivors(of: pull, after: row, limit: full)
      if part.entries.isEmpty { break }
      row = part.row
      var frames: [UInt8] = []
      for entry in part.entries {
        SyncEntry.write(entry.envelope, at: 0, into: &frames)
        new.head.digest.add(entry.key, entry.envelope)
        new.digest.add(entry.key, entry.envelope)
        new.head.count += 1
        new.head.bytes += Int64(entry.envelope.count)
      }
      let upload = SyncPackUpload(
        frames, entries: part.entries.count, from: next, to: next, sequence: next, seal)
      guard try remote.upload(upload) else { return nil }
      new.head.packs.append(upload.pack)
      next += 1
    }
    try remote.makeDurable()
    new.head.position.number = max(position.number, next - 1)
    new.head.inlineFrom = new.head.position.number + 1
    new.head.fence = new.head.position.number
    return new
  }
}
