import SatchelCore
import SatchelRemote
import SatchelStorage

extension ShardSync {
  private enum Put {
    /// The object has the uploaded bytes. If another device wrote the same, the ancestors are those of its
    /// upload.
    case written(ETag, ancestors: String?)
    /// Another device has replaced the object, or has built on the upload.
    case changed
    case gone
  }

  /// Uploads the shard's current content, on the condition that the object is the one synchronized last.
  ///
  /// - Parameter isGone: whether the object has to be written even without local changes
  /// - Returns: the entry for the manifest, if that has to change
  mutating func upload(isGone: Bool = false) throws -> ManifestEntry? {
    let start = Clock.monotonic.now()
    var (isGone, entry) = (isGone, nil as ManifestEntry?)
    if isGone, damage == nil { known.etag = nil }
    for failures in 1...max(run.options.rounds, 1) {
      let export = try run.ledger.export(shard)
      let isEmptyUpload = export.checksum == Shard.emptyChecksum && known.etag == nil
      if export.checksum == known.baseChecksum, !isGone || isEmptyUpload, isProven {
        try run.ledger.confirmIdentical(
          shard, checksum: export.checksum, etag: known.etag, ancestors: known.ancestors)
        return entry
      }
      if let damage, try !run.confirmManifest() || !canRepair(damage.kind) {
        (entry, isGone) = try pull(unlessKnown: false)
        guard known.hasChanges || isGone else { return entry }
      } else if try recordPendingUpload(export) {
        let ancestors = self.ancestors(of: export.checksum).text
        var upload = ManifestEntry(
          shard: shard, checksum: export.checksum, photos: export.photos, ancestors: ancestors,
          origin: .upload(export))
        switch try put(export, ancestors: ancestors) {
        case .written(let etag, let ancestors):
          upload.etag = etag
          upload.ancestors = ancestors
          upload.isRepair = damage != nil
          reportDiscarded(over: export)
          return upload
        case .gone:
          (entry, isGone) = try pull(unlessKnown: false)
        case .changed:
          let before = known.baseChecksum
          (entry, isGone) = try pull(unlessKnown: false)
          // No conflict if it is another object with the same content, as one that was emptied again.
          if step == .upload, known.baseChecksum != before {
            run.report.withLock { $0.conflicts.append(shard) }
          }
        }
        guard known.hasChanges || isGone else { return entry }
      }
      try run.remote.pause(
        afterFailures: failures, since: start,
        ObjectStoreError(.transient(retryAfter: nil), "\(key): other devices keep changing it"))
    }
    throw SatchelError(.busy, "\(key): other devices change it faster than this one can follow")
  }

  /// Whether the known state of the object is certain enough not to write it. Its absence is not certain
  /// while an upload may have succeeded: the response may be wrong, and later local changes would then be
  /// lost. A write under If-None-Match determines it.
  private var isProven: Bool { known.etag != nil || known.pendingUpload == nil }

  /// - Returns: false when the shard was changed after the export
  private mutating func recordPendingUpload(_ export: ShardExport) throws -> Bool {
    do {
      try run.ledger.recordPendingUpload(shard, export)
    } catch let error as SatchelError where error.code == .busy {
      return false
    }
    unconfirmedUpload = unconfirmedUpload ?? known.pendingUpload
    known.pendingUpload = PendingShard(checksum: export.checksum, sequence: export.sequence)
    return true
  }

  /// Writes the object on the condition that it still is the one synchronized last.
  private func put(_ export: ShardExport, ancestors: String) throws -> Put {
    guard Int64(export.bytes.count) <= Shard.maximumSize else {
      throw SatchelError(
        .full, "\(key): has \(export.bytes.count) bytes, and a shard has at most \(Shard.maximumSize)")
    }
    try run.checkConditions()
    let start = Clock.monotonic.now()
    let condition = known.etag.map { ObjectCondition.ifMatch($0) } ?? .ifAbsent
    let metadata = try ObjectMetadata([
      SyncAncestors.name: ancestors, SyncRemote.checksumName: export.checksum,
    ])
    var failures = 0
    while true {
      let failure: ObjectStoreError
      do throws(ObjectStoreError) {
        let etag = try run.remote.store.put(
          key, export.bytes, condition: condition, metadata: metadata, cancellation: run.remote.cancellation)
        return .written(etag, ancestors: ancestors)
      } catch {
        failure = error
      }
      switch (failure.reason, condition) {
      case (.preconditionFailed, _), (.unknownOutcome, _), (.transient, _), (.truncated, _): break
      case (.notFound, .ifMatch): break
      default: throw failure
      }
      // A failed precondition may be the response to a retry of this request, whose first attempt succeeded.
      if let outcome = try outcome(export, condition) { return outcome }
      failures += 1
      try run.remote.pause(afterFailures: failures, since: start, failure)
    }
  }

  /// Reports the photos that existed only in a damaged object that was replaced.
  private func reportDiscarded(over export: ShardExport) {
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

  /// Finds the outcome of an attempt without a conclusive response; nil when it had no effect.
  private func outcome(_ export: ShardExport, _ condition: ObjectCondition) throws -> Put? {
    guard let head = try run.remote.head(key) else {
      if case .ifMatch = condition { return .gone }
      return nil
    }
    // The metadata of a damaged object may describe bytes that it no longer has.
    if damage != nil, case .ifMatch(head.etag) = condition { return nil }
    if try isExport(head, export) { return .written(head.etag, ancestors: head.metadata[SyncAncestors.name]) }
    switch condition {
    case .none: return nil
    case .ifAbsent: return .changed
    case .ifMatch(let known):
      let isBuiltOn = SyncAncestors(head.metadata[SyncAncestors.name]).contains(
        ancestors(of: export.checksum))
      return known == head.etag && !isBuiltOn ? nil : .changed
    }
  }

  /// Whether an object has the exported bytes. Without metadata, the bytes themselves are compared.
  private func isExport(_ head: ObjectHead, _ export: ShardExport) throws -> Bool {
    if let checksum = head.metadata[SyncRemote.checksumName] { return checksum == export.checksum }
    guard head.size == Int64(export.bytes.count),
      case .object(let object)? = try run.remote.get(key, limit: head.size)
    else { return false }
    return object.etag == head.etag && object.body == export.bytes
  }
}
