import SatchelCore
import SatchelRemote
import SatchelStorage

/// One sync of a collection: what a listing shows against what is known here, page by page, so that neither has to be
/// in memory as a whole.
///
/// Each record's object is the truth about it, and each version of an object is built on the one before, because every
/// write names it. A listing only tells where to look: it may be old by the time it is read.
final class RecordSyncRun: Sendable {
  /// A record to look at.
  struct Job: Sendable {
    var id: String
    var sighting: RecordPlan.Sighting
    var mark: RecordMark?
  }

  private struct Outcome {
    var report = RecordSyncReport()
    /// What may be taken once others are there.
    var refused: [(job: Job, error: SatchelError)] = []
    /// Requests that failed in a row.
    var outage = 0
    /// Why the sync ends early.
    var end: SatchelError?
  }

  /// The sync is over.
  private struct Ended: Error {}

  let ledger: any RecordLedger
  let remote: RecordRemote
  let binding: RecordBinding
  let options: RecordSyncOptions
  let rules: RecordSyncRules
  /// Unix milliseconds.
  let now: @Sendable () -> Int64
  private let probe: @Sendable () throws -> Void
  private let isProbed = Locked(false)
  private let progress: ProgressReporter<RecordSyncProgress>
  private let outcome = Locked(Outcome())
  /// So many records in a row whose requests fail mean that the store cannot be reached.
  private static let longestOutage = 8
  private static let mostRefused = 10_000

  init(
    ledger: any RecordLedger, remote: RecordRemote, binding: RecordBinding, options: RecordSyncOptions,
    rules: RecordSyncRules, progress: ProgressReporter<RecordSyncProgress>,
    now: @escaping @Sendable () -> Int64,
    probe: @escaping @Sendable () throws -> Void
  ) {
    self.ledger = ledger
    self.remote = remote
    self.binding = binding
    self.options = options
    self.rules = rules
    self.progress = progress
    self.now = now
    self.probe = probe
  }

  /// - Parameter first: the first page of the listing
  func run(_ first: ObjectPage) throws -> RecordSyncReport {
    var seen: Set<UInt64> = []
    var (page, passed): (ObjectPage?, Set<String>) = (first, [])
    while let current = page {
      try carryOut(try jobs(current, &seen))
      if let next = current.next {
        guard passed.insert(next.text).inserted else {
          throw SatchelError(.foreign, "the store's listing does not advance")
        }
        try progress.report { $0.phase = .list }
        page = try remote.list(from: next)
      } else {
        page = nil
      }
    }
    try carryOutUnlisted(seen)
    try carryOutRefused()
    if !options.isDryRun {
      try ledger.finish(isComplete: outcome.withLock { $0.report.failed.isEmpty })
    }
    return outcome.withLock { outcome in
      outcome.report.isDryRun = options.isDryRun
      outcome.report.failed.sort { $0.id < $1.id }
      return outcome.report
    }
  }

  // MARK: What is to be done

  private func jobs(_ page: ObjectPage, _ seen: inout Set<UInt64>) throws -> [Job] {
    var listed: [(id: String, entry: ObjectPage.Entry)] = []
    for entry in page.entries {
      guard let id = remote.keys.id(entry.key) else {
        note(remote.keys.name(entry.key), SatchelError(.invalid, "\(entry.key): is not the key of a record"))
        continue
      }
      if seen.insert(Self.mark(id)).inserted { listed.append((id, entry)) }
    }
    let marks = try ledger.marks(of: listed.map(\.id))
    var jobs: [Job] = []
    for (listed, mark) in zip(listed, marks) {
      if let job = plan(Job(id: listed.id, sighting: .listed(listed.entry.etag), mark: mark)) {
        if listed.entry.size > Int64(RecordEnvelope.maximumSize) {
          fail(job, SatchelError(.invalid, "\(listed.entry.key): is larger than a record may be"))
        } else {
          jobs.append(job)
        }
      }
    }
    return jobs
  }

  /// Records that the listing has not shown.
  private func carryOutUnlisted(_ seen: Set<UInt64>) throws {
    var cursor: RecordCursor?
    repeat {
      let marks = try ledger.marks(from: cursor, limit: 1000)
      try carryOut(
        marks.marks.compactMap { mark in
          if seen.contains(Self.mark(mark.id)) { return nil }
          return plan(Job(id: mark.id, sighting: .unlisted, mark: mark))
        })
      cursor = marks.next
    } while cursor != nil
  }

  /// What refers to others may come before them.
  private func carryOutRefused() throws {
    while true {
      let refused = outcome.withLock { outcome in
        defer { outcome.refused = [] }
        return outcome.refused
      }
      if refused.isEmpty { return }
      var jobs = refused.map(\.job)
      for index in jobs.indices { jobs[index].sighting = .listed(nil) }
      try carryOut(jobs)
      let again = outcome.withLock { $0.refused }
      guard again.count >= refused.count else { continue }
      outcome.withLock { $0.refused = [] }
      for (job, error) in again { fail(job, error) }
      return
    }
  }

  /// Nil when there is nothing to do.
  private func plan(_ job: Job) -> Job? {
    switch RecordPlan(job.mark, job.sighting, options: options, now: now()) {
    case .work: return job
    case .unchanged: count { $0.unchanged += 1 }
    case .waitsForHost: count { $0.conflicts += 1 }
    case .waitsForTime(let failure):
      note(job.id, SatchelError(.busy, "\(failure.message); waits to be tried again"))
    }
    return nil
  }

  private static func mark(_ id: String) -> UInt64 {
    SHA256.digest(id.utf8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: Doing it

  private func carryOut(_ jobs: [Job]) throws {
    try remote.cancellation.check()
    if jobs.isEmpty { return }
    try progress.report {
      $0.phase = .records
      $0.recordsTotal += jobs.count
    }
    inParallel(jobs, limit: options.parallel) { [self] job in
      guard !remote.cancellation.isCancelled(), outcome.withLock({ $0.end == nil }) else { return }
      perform(job)
      try? progress.report { $0.recordsDone += 1 }
    }
    try remote.cancellation.check()
    if let end = outcome.withLock({ $0.end }) { throw end }
  }

  private func perform(_ job: Job) {
    var sync = RecordSync(self, job.id, job.sighting, job.mark)
    do {
      try sync.perform()
      outcome.withLock { $0.outage = 0 }
    } catch let refused as RecordSync.Refused {
      let isKept = outcome.withLock { outcome in
        guard outcome.refused.count < Self.mostRefused else { return false }
        outcome.refused.append((job, refused.error))
        return true
      }
      if !isKept { fail(job, refused.error) }
    } catch is Ended {
    } catch {
      let told = Self.told(error)
      if told.code == .cancelled { return }
      if told.code == .unavailable || told.code == .unauthorized {
        outcome.withLock { outcome in
          outcome.outage += 1
          if outcome.outage >= Self.longestOutage { outcome.end = told }
        }
      }
      fail(job, told)
    }
  }

  /// Notes a record that stays as it is.
  private func fail(_ job: Job, _ error: SatchelError) {
    note(job.id, error)
    if options.isDryRun { return }
    let attempts = (job.mark?.failure?.attempts ?? 0) + 1
    var random = SystemRandomNumberGenerator()
    let wait = RecordBackoff.delay(afterFailures: attempts, random: &random)
    do {
      try ledger.fail(job.id, error: error, attempts: attempts, retryAt: now() + wait)
    } catch {
      // It is told all the same, and only tried again sooner.
    }
  }

  private func note(_ id: String, _ error: SatchelError) {
    let failure = RecordSyncReport.Failure(id: id, code: error.code, message: error.message)
    count { $0.failed.append(failure) }
  }

  func count(_ change: (inout RecordSyncReport) -> Void) { outcome.withLock { change(&$0.report) } }

  /// Makes sure, once, that the store heeds conditions; called before anything is written.
  func checkConditions() throws {
    try isProbed.withLock { isProbed in
      if isProbed { return }
      do {
        try probe()
        isProbed = true
      } catch {
        // It is no matter of this record.
        outcome.withLock { $0.end = $0.end ?? Self.told(error) }
        throw Ended()
      }
    }
  }

  /// An envelope's content in the present version of the collection; a newer one as it is.
  func present(_ envelope: RecordEnvelope) throws -> RecordContent {
    var content = envelope.content
    if let document = content.document, envelope.version < binding.version {
      content.document = try ledger.migrated(document, from: envelope.version)
    }
    return content
  }

  func tooFast(_ id: String) -> SatchelError {
    SatchelError(.busy, "\(id): it is changed faster than it could be followed")
  }

  func confused(_ id: String) -> SatchelError {
    SatchelError(.damaged, "\(id): what is known of it does not fit together")
  }

  /// The same error for callers of the library.
  static func told(_ error: any Error) -> SatchelError {
    switch error {
    case let error as SatchelError: error
    case let error as ObjectStoreError: error.satchelError
    default: SatchelError(.internal, "\(error)", underlying: error)
    }
  }
}
