import SatchelCore

/// Encrypts a log, changes its key, or decrypts it.
extension SyncLogRun {
  /// Syncs, and writes a new log that is sealed with another key. Devices with the new key join it; syncs of
  /// the others fail with `unauthorized` from then on. The old log stays unchanged until the new head is
  /// written. A log that has the new key already, because an earlier call was interrupted, is only synced. Devices follow
  /// a decryption by the same call, from their key to none: a sync treats a log that has lost its key as replaced by a
  /// stranger.
  ///
  /// - Parameter key: nil for a log that is not encrypted
  /// - Throws: as `run`; `invalid` for nil where the log has sensitive content
  package mutating func rekey(to key: EncryptionKey?) throws -> SyncLogReport {
    let start = Clock.monotonic.now()
    let keys = try key.map { try SyncLogKey($0) }
    var failures = 0
    while true {
      do {
        _ = try run()
      } catch let error as SatchelError where error.code == .unauthorized {
        isDecrypting = keys == nil && remote.keys != nil
        use(keys)
        return try run()
      }
      if keys?.name == remote.keys?.name { return report }
      if try rewrite(keys) {
        isDecrypting = keys == nil
        use(keys)
        return try run()
      }
      failures += 1
      guard failures < options.rounds else { throw Self.raced }
      try remote.pause(afterFailures: failures, since: start, Self.raced)
    }
  }

  private mutating func use(_ keys: SyncLogKey?) {
    remote.keys = keys
    ledger.keys = keys
    segments = []
    // Sensitive changes are sent now.
    forgetUnsent()
  }

  /// Writes the local entries as a new log.
  ///
  /// - Returns: false when the outcome is unknown
  mutating func rewrite(_ keys: SyncLogKey?) throws -> Bool {
    let state = try ledger.state()
    guard state.phase == nil, state.upload == nil, (state.etag == nil) == (state.position == nil) else {
      return false
    }
    if keys == nil, let sensitive = try ledger.sensitiveEntry() {
      throw SatchelError(
        .invalid, "\(sensitive): is sensitive, and is sent only in an encrypted sync log; delete it first")
    }
    try probeOnce()
    var target = remote
    target.keys = keys
    let known = state.position ?? SyncHead.Position(epoch: 0, log: "", number: 0)
    let position = known.next(isRenumbered: true)
    let entries = SyncPull(generation: state.generation, isWhole: false, state: state)
    guard var new = try writeLog(entries, at: position, bytes: state.bytes, to: target) else { return false }
    // Another process may have changed the entries meanwhile.
    guard new.digest == state.digest, new.head.count == state.count, new.head.bytes == state.bytes else {
      return false
    }
    let old = state.head
    if new.head.position.number > known.number {
      new.head.horizon = old?.horizon ?? 0
      new.head.follows = state.position
    }
    new.head.reseals = keys != nil && (old.map { $0.reseals || $0.key == nil } ?? false)
    new.head.others = old?.others ?? []
    new.head.successions = old?.successions ?? []
    if let former = remote.keys, keys?.name != former.name {
      new.head.successions.append(
        SyncSuccession(from: former, to: keys, epoch: position.epoch, remote.user))
    }
    new.head.successions = new.head.successions.suffix(SyncSuccession.maximumCount)
    let replaced = (old?.packs.map(\.name) ?? []) + (old?.retired ?? [])
    new.head.retired = Array(replaced.prefix(SyncHead.maximumRetired))
    guard try target.replaceHead(target.signed(&new.head), base: state.etag) != nil else { return false }
    report.commits += 1
    // Packs that the new head does not name hold bytes of the old log, under the old key or in plain text.
    try remote.delete(replaced)
    return true
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
