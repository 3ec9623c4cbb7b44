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
    // Entries that the log has lost were not deleted.
    let dropped = seen.hasDiverged ? 0 : known.map { head.droppedThrough(from: $0) } ?? 0
    for all in isSameLog && dropped == 0 && !seen.hasDiverged ? [false, true] : [true] {
      var pull = try ledger.beginPull(all: all, from: seen)
      (pull.horizon, pull.droppedThrough) = (head.horizon, dropped)
      let missing = try store(head, &pull, all: options.acceptsLoss && failures >= 3)
      if !missing.isEmpty {
        return try lose(missing, of: head, etag: etag, pull, failures: failures, at: state)
      }
      if try ledger.complete(pull, at: head, etag: etag, state: &state) {
        try finishPhase(&state)
        if all { (last, assets.reserved) = (nil, []) }
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
}
