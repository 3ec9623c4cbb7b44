import SatchelCore
import SatchelRemote
import SatchelStorage

extension RecordSyncRun {
  /// Sets up a sync, carries it out, and counts its requests.
  ///
  /// - Parameter probe: makes sure that a store heeds conditions, through one that counts
  static func perform(
    on ledger: any RecordLedger, of collection: String, with store: any ObjectStore, user: UserID,
    options: RecordSyncOptions, rules: RecordSyncRules = RecordSyncRules(),
    progress: (@Sendable (RecordSyncProgress) -> Bool)? = nil, now: @escaping @Sendable () -> Int64,
    probe: @escaping @Sendable (MeteredStore, Cancellation) throws -> Void
  ) throws -> RecordSyncReport {
    let meter = MeteredStore(store)
    let teller = ProgressReporter(RecordSyncProgress(), meter, progress)
    let cancellation = Cancellation { teller.isCancelled || options.cancellation.isCancelled() }
    let accepts = options.allowUnsafeRemote
    do {
      let remote = RecordRemote(
        store: meter, keys: try RecordKeys(user: user, collection: collection), retry: options.retry,
        cancellation: cancellation, rules: rules)
      if let bound = try ledger.binding().user, bound != user.text {
        throw SatchelError(
          .foreign,
          "\(collection): agrees with the records of \"\(bound)\", not of \"\(user)\": detach it first")
      }
      try teller.report { $0.phase = .list }
      // A store that cannot be reached is nothing to agree with.
      let first = try remote.list(from: nil)
      if !options.isDryRun { try ledger.begin(user: user) }
      let run = RecordSyncRun(
        ledger: ledger, remote: remote, binding: try ledger.binding(), options: options, rules: rules,
        progress: teller, now: now
      ) {
        if !accepts { try probe(meter, cancellation) }
      }
      var report = try run.run(first)
      let traffic = meter.traffic
      report.requests = traffic.requests
      // Of a dry run it is counted what would be sent; what it has read would be read again.
      if !report.isDryRun { report.bytesUp = traffic.bytesUp }
      report.bytesDown = traffic.bytesDown
      return report
    } catch {
      throw told(error)
    }
  }
}
