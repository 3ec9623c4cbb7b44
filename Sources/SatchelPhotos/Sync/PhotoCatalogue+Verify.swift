import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

extension PhotoCatalogue {
  /// Reads every shard in the remote and compares it with the manifest. Blocks, and does not run at the same
  /// time as a sync of the same catalogue.
  ///
  /// - Parameters:
  ///   - store: the object store of the remote
  ///   - user: the owner of the catalogue in the store
  ///   - repair: whether to repair the objects for which this device has the data: a damaged object is
  ///     replaced by the version synchronized last, with the local changes on top, an object that is newer
  ///     than the manifest is applied, and the manifest is corrected
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: the same errors as `sync`
  public func verify(
    _ store: any ObjectStore, user: UserID, repair: Bool = false, options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> VerifyReport {
    var options = options
    options.isDryRun = false
    let session = try SyncSession(database, with: store, user: user, options: options, progress: progress)
    return try session.withTurn(syncTurn) {
      var report = try run(in: session, options).verify()
      let bad = report.shards.filter { $0.state != .ok }.map(\.shard)
      if repair, !report.isSound {
        // A new manifest has to announce all shards.
        let wanted = Set(report.manifest == .ok ? bad : Shard.Index.all)
        do {
          let synced = try run(in: session, options, only: wanted).repair()
          report.removed = synced.removed
          report.addRepair(synced, try run(in: session, options).verify())
        } catch {
          let error = SatchelError(converting: error)
          guard error.code == .damaged else { throw error }
          report.fail(bad, with: error)
        }
      }
      report.add(session.traffic)
      return report
    }
  }
}

extension VerifyReport {
  fileprivate mutating func fail(_ bad: [Shard.Index], with error: SatchelError) {
    for index in shards.indices where bad.contains(shards[index].shard) {
      shards[index].error = shards[index].error ?? error
    }
  }

  /// Adds the results of a repair.
  ///
  /// - Parameter again: the report after the repair
  fileprivate mutating func addRepair(_ synced: SyncReport, _ again: VerifyReport) {
    isManifestRepaired = manifest != .ok && again.manifest == .ok
    for index in shards.indices {
      let shard = shards[index].shard
      let now = again.shards.first { $0.shard == shard }
      if now?.state == .ok {
        shards[index].isRepaired = shards[index].state != .ok
        if shards[index].isRepaired { shards[index].error = nil }
      } else {
        // A shard that became damaged meanwhile is reported, too.
        if shards[index].state == .ok { shards[index].state = now?.state ?? .unreadable }
        shards[index].error =
          synced.failed.first { $0.shard == shard }?.error ?? shards[index].error ?? now?.error
      }
    }
  }
}
