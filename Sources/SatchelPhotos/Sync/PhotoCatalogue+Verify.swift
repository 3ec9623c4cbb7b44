import SatchelCore
import SatchelRemote
import SatchelStorage

extension PhotoCatalogue {
  /// Reads every shard in the remote and compares it with the manifest. Blocks, and does not run at the same
  /// time as a sync of the same catalogue.
  ///
  /// - Parameters:
  ///   - store: the object store of the remote
  ///   - user: the owner of the catalogue in the store
  ///   - repair: whether to repair what this device can: a damaged object is replaced by the version
  ///     synchronized last, with the local changes on top, an object that is newer than the manifest is
  ///     applied, and the manifest is corrected
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: the same errors as `sync`
  public func verify(
    _ store: any ObjectStore, user: UserID, repair: Bool = false, options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> VerifyReport {
    let turn = SyncTurns.Subject(database: database, name: "photos " + directory)
    var options = options
    options.isDryRun = false
    return try SyncTurns.shared.withTurn(turn, options.cancellation) {
      let clock = database.clock
      let options = try resolve(options)
      func run<Result>(_ only: Set<Shard.Index>?, _ body: (SyncRun) throws -> Result) throws -> (
        Result, Traffic
      ) {
        try SyncRun.run(
          on: self, with: store, user: user, options: options, only: only,
          probed: ConditionProbeCache(database),
          progress: progress, now: { clock.now() }, body)
      }
      var (report, traffic) = try run(nil) { try $0.verify() }
      report.count(traffic)
      let bad = report.shards.filter { $0.state != .ok }.map(\.shard)
      guard repair, !report.isSound else { return report }
      // A new manifest has to announce all shards.
      let wanted = Set(report.manifest == .ok ? bad : Shard.Index.all)
      let synced: SyncReport
      do {
        (synced, traffic) = try run(wanted) { try $0.repair() }
        report.count(traffic)
      } catch let error as SatchelError where error.code == .damaged {
        report.fail(bad, with: error)
        return report
      }
      report.removed = synced.removed
      let again: VerifyReport
      (again, traffic) = try run(nil) { try $0.verify() }
      report.count(traffic)
      report.addRepair(synced, again)
      return report
    }
  }
}

extension VerifyReport {
  fileprivate mutating func count(_ traffic: Traffic) {
    requests += traffic.requests
    bytesUp += traffic.bytesUp
    bytesDown += traffic.bytesDown
  }

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
