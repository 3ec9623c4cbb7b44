import SatchelCore

/// Runs jobs of a store some time after they were requested.
// Unchecked: `lock` guards all state, that of the jobs as well.
final class DelayedWork: @unchecked Sendable {
  /// A job that may be requested any number of times, and runs once for requests in quick succession.
  final class Job: @unchecked Sendable {
    /// The job runs when no request was made for this time, in milliseconds.
    fileprivate let quiet: Int64
    /// The maximum time from the first request, in milliseconds.
    fileprivate let limit: Int64
    /// Returns when to run again, in milliseconds; nil when it is done.
    fileprivate let run: @Sendable () -> Int64?
    fileprivate let thread: JobThread
    fileprivate var scheduled: JobThread.Job?
    fileprivate var oldest: Int64?
    fileprivate var newest: Int64 = 0
    fileprivate var earliest: Int64 = 0

    init(on thread: JobThread, quiet: Int64, limit: Int64, _ run: @escaping @Sendable () -> Int64?) {
      self.thread = thread
      self.quiet = quiet
      self.limit = limit
      self.run = run
    }

    /// The time of the next run, by the monotonic clock; nil without a request.
    fileprivate var due: Int64? { oldest.map { max(earliest, min(newest + quiet, $0 + limit)) } }
  }

  /// After a run, a job pauses for this multiple of the run's duration, so that large jobs do not slow the
  /// app down.
  private static let rest: Int64 = 20

  private let lock = ConditionLock()
  /// The jobs that were requested or run.
  private var current: [Job] = []
  private var isStopped = false

  /// - Throws: `.closed`, `.noMemory`
  func request(_ job: Job) throws {
    try lock.withLock {
      guard !isStopped else { throw SatchelError(.closed, "the store is closed") }
      let now = Clock.monotonic.now()
      // A later request only delays the run: the job detects it when it wakes.
      if job.oldest == nil {
        let scheduled =
          job.scheduled ?? job.thread.job { [weak self, weak job] in job.flatMap { self?.wake($0) } }
        job.scheduled = scheduled
        (job.oldest, job.newest) = (now, now)
        do {
          try scheduled.request(at: job.due ?? now)
        } catch {
          job.oldest = nil
          throw error
        }
        if !current.contains(where: { $0 === job }) { current.append(job) }
      }
      job.newest = now
    }
  }

  /// Withdraws the request of a job whose work was done elsewhere.
  func cancel(_ job: Job) { lock.withLock { job.oldest = nil } }

  /// Runs a job if it is due.
  ///
  /// - Returns: when it is due next
  private func wake(_ job: Job) -> Int64? {
    let start = Clock.monotonic.now()
    let isDue = lock.withLock { () -> Bool in
      guard let due = job.due, due <= start else { return false }
      // Before it runs, so that a request during the run causes another run.
      job.oldest = nil
      return true
    }
    let pause = isDue ? job.run() : nil
    return lock.withLock {
      let end = Clock.monotonic.now()
      if isDue { job.earliest = end + (pause ?? min(60_000, (end - start) * Self.rest)) }
      if pause != nil, job.oldest == nil { (job.oldest, job.newest) = (end, end) }
      if job.oldest == nil { current.removeAll { $0 === job } }
      return job.due
    }
  }

  /// Waits for the running jobs (unless called by one), and runs those that are requested.
  func finish() {
    let jobs = lock.withLock {
      isStopped = true
      defer { current = [] }
      return current
    }
    for job in jobs { job.scheduled?.cancel() }
    for job in jobs where lock.withLock({ job.oldest != nil }) { _ = job.run() }
  }
}
