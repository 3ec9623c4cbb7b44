import SatchelRemote
import SatchelStorage

extension PhotoCatalogue {
  /// Reads every shard in the remote and compares it with the manifest. Blocks, and takes turns with syncs of the same
  /// catalogue.
  ///
  /// - Parameters:
  ///   - store: where the master is
  ///   - user: whose catalogue
  ///   - repairs: mends what this device can: a damaged object is replaced by the bytes last synced, with the local
  ///     changes on top, one that is newer than the manifest is applied, and the manifest is put right
  ///   - progress: hears how far it has come, never twice at once, and cancels by false
  /// - Throws: as `sync`
  public func verify(
    _ store: any ObjectStore, user: UserID, repairs: Bool = false, options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> VerifyReport {
    let turn = SyncTurns.Subject(database: database, name: "photos " + directory)
    var options = options
    options.isDryRun = false
    return try SyncTurns.shared.take(turn, options.cancellation) {
      let clock = database.clock
      func run<Result>(_ only: Set<Shard.Index>?, _ body: (SyncRun) throws -> Result) throws -> (
        Result, Traffic
      ) {
        try SyncRun.run(
          on: self, with: store, user: user, options: options, only: only, probed: ProbedStores(database),
          progress: progress, now: { clock.now() }, body)
      }
      var (report, traffic) = try run(nil) { try $0.verify() }
      report.count(traffic)
      let bad = report.shards.filter { $0.state != .ok }.map(\.shard)
      guard repairs, !report.isSound else { return report }
      // Without a manifest all shards are to be told in the next one.
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
      report.settle(synced, again)
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

  /// - Parameter again: what was found after the repair
  fileprivate mutating func settle(_ synced: SyncReport, _ again: VerifyReport) {
    isManifestRepaired = manifest != .ok && again.manifest == .ok
    for index in shards.indices {
      let shard = shards[index].shard
      let now = again.shards.first { $0.shard == shard }
      if now?.state == .ok {
        shards[index].isRepaired = shards[index].state != .ok
        if shards[index].isRepaired { shards[index].error = nil }
      } else {
        // One that became damaged meanwhile is told, too.
        if shards[index].state == .ok { shards[index].state = now?.state ?? .unreadable }
        shards[index].error =
          synced.failed.first { $0.shard == shard }?.error ?? shards[index].error ?? now?.error
      }
    }
  }
}
