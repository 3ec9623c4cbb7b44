import SatchelRemote
import SatchelStorage

extension ShardSync {
  private enum Put {
    /// Our bytes are there. Somebody else may have written the same: then the lineage is his.
    case written(ETag, lineage: String?)
    /// Somebody else was faster, or has built on what we wrote.
    case changed
    case gone
  }

  /// Sends what the shard is by now, on top of what was agreed.
  ///
  /// - Parameter isGone: the object has to be put there again
  /// - Returns: what the manifest should say, if that is not what it says
  mutating func upload(isGone: Bool = false) throws -> ManifestEntry? {
    let start = Clock.monotonic.now()
    var (isGone, entry) = (isGone, nil as ManifestEntry?)
    if isGone, damage == nil { known.etag = nil }
    for failures in 1...max(run.options.rounds, 1) {
      let export = try run.ledger.export(shard)
      let isNothing = export.checksum == Shard.emptyChecksum && known.etag == nil
      if export.checksum == known.agreedChecksum, !isGone || isNothing, isProven {
        try run.ledger.agree(shard, checksum: export.checksum, etag: known.etag, lineage: known.lineage)
        return entry
      }
      if let damage, try !run.confirmManifest() || !canMend(damage.kind) {
        (entry, isGone) = try receive(unlessKnown: false)
        guard known.hasChanges || isGone else { return entry }
      } else if try noteIntent(export) {
        let lineage = self.lineage(of: export.checksum).text
        var upload = ManifestEntry(
          shard: shard, checksum: export.checksum, photos: export.photos, lineage: lineage,
          origin: .upload(export))
        if !run.rules.uploadsShardFirst { try run.announceEarly(upload) }
        switch try put(export, lineage: lineage) {
        case .written(let etag, let lineage):
          upload.etag = etag
          upload.lineage = lineage
          upload.isRepair = damage != nil
          noteDiscarded(over: export)
          return upload
        case .gone:
          (entry, isGone) = try receive(unlessKnown: false)
        case .changed:
          let before = known.agreedChecksum
          (entry, isGone) = try receive(unlessKnown: false)
          // It may be only another object with the same content: one that was emptied again, for a start.
          if step == .upload, known.agreedChecksum != before {
            run.report.withLock { $0.conflicts.append(shard) }
          }
        }
        guard known.hasChanges || isGone else { return entry }
      }
      try run.remote.pause(
        afterFailures: failures, since: start,
        ObjectStoreError(.transient(retryAfter: nil), "\(key): others change it all the time"))
    }
    throw SatchelError(.busy, "\(key): others change it faster than it could be followed")
  }

  /// Whether what is known of the object is good enough to leave it alone. That there is none, where something of ours
  /// may have arrived, is not: an answer may be wrong, and then what was changed here since would be forgotten. Writing
  /// on the condition that there is none finds out.
  private var isProven: Bool { known.etag != nil || known.intent == nil }

  /// - Returns: false when the shard was changed after the export
  private mutating func noteIntent(_ export: ShardExport) throws -> Bool {
    do {
      try run.ledger.noteIntent(shard, export)
    } catch let error as SatchelError where error.code == .busy {
      return false
    }
    unproven = unproven ?? known.intent
    known.intent = UploadIntent(checksum: export.checksum, sequence: export.sequence)
    return true
  }

  /// Writes the object on the condition that it still is what was agreed.
  private func put(_ export: ShardExport, lineage: String) throws -> Put {
    try run.checkConditions()
    let start = Clock.monotonic.now()
    var condition = known.etag.map { ObjectCondition.ifMatch($0) } ?? .ifAbsent
    if !run.rules.usesConditions { condition = .none }
    let metadata = try ObjectMetadata([
      SyncLineage.name: lineage, SyncRemote.checksumName: export.checksum,
    ])
    var failures = 0
    while true {
      let failure: ObjectStoreError
      do throws(ObjectStoreError) {
        let etag = try run.remote.store.put(
          key, export.bytes, condition: condition, metadata: metadata, cancellation: run.remote.cancellation)
        return .written(etag, lineage: lineage)
      } catch {
        failure = error
      }
      switch (failure.reason, condition) {
      case (.preconditionFailed, _), (.unknownOutcome, _), (.transient, _), (.truncated, _): break
      case (.notFound, .ifMatch): break
      default: throw failure
      }
      // "Not met" may be the answer to a repetition of our own request, which had won.
      if let outcome = try look(export, condition) { return outcome }
      failures += 1
      try run.remote.pause(afterFailures: failures, since: start, failure)
    }
  }

  /// Reports the photos that only a damaged object had, which was replaced.
  private func noteDiscarded(over export: ShardExport) {
    guard let object = damage?.object, damage?.kind != .outdated else { return }
    let comparison = object.body.withUnsafeBytes { body in
      export.bytes.withUnsafeBytes { try? ShardComparison(body, with: $0, shard: shard) }
    }
    run.report.withLock { report in
      for row in comparison?.added ?? [] {
        report.rejected.append(SyncReport.Rejected(shard: shard, row: row))
      }
    }
  }

  /// What has become of an attempt whose answer is not known; nil when it did not take effect.
  private func look(_ export: ShardExport, _ condition: ObjectCondition) throws -> Put? {
    guard let head = try run.remote.head(key) else {
      if case .ifMatch = condition { return .gone }
      return nil
    }
    // What is damaged may say of itself what it no longer is.
    if damage != nil, case .ifMatch(head.etag) = condition { return nil }
    if try isExport(head, export) { return .written(head.etag, lineage: head.metadata[SyncLineage.name]) }
    switch condition {
    case .none: return nil
    case .ifAbsent: return .changed
    case .ifMatch(let known):
      let isBuiltOn = SyncLineage(head.metadata[SyncLineage.name]).contains(lineage(of: export.checksum))
      return known == head.etag && !isBuiltOn ? nil : .changed
    }
  }

  /// Whether an object has our bytes. A store that keeps no metadata has to be asked for them.
  private func isExport(_ head: ObjectHead, _ export: ShardExport) throws -> Bool {
    if let checksum = head.metadata[SyncRemote.checksumName] { return checksum == export.checksum }
    guard head.size == Int64(export.bytes.count), case .object(let object)? = try run.remote.get(key) else {
      return false
    }
    return object.etag == head.etag && object.body == export.bytes
  }
}
