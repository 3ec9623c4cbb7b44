import SatchelCore

/// Runs jobs of a store some time after they were requested, on one thread that the first request starts.
// Unchecked: `condition` guards all state, that of the jobs as well.
final class DelayedWork: @unchecked Sendable {
  /// A job that may be requested any number of times, and runs once for requests in quick succession.
  final class Job: @unchecked Sendable {
    /// The job runs when no request was made for this time, in milliseconds.
    fileprivate let quiet: Int64
    /// The maximum time from the first request, in milliseconds.
    fileprivate let limit: Int64
    /// Returns when to run again, in milliseconds; nil when it is done.
    fileprivate let run: @Sendable () -> Int64?
    fileprivate var oldest: Int64?
    fileprivate var newest: Int64 = 0
    fileprivate var earliest: Int64 = 0

    init(quiet: Int64, limit: Int64, _ run: @escaping @Sendable () -> Int64?) {
      self.quiet = quiet
      self.limit = limit
      self.run = run
    }

    /// The time of the next run, by the monotonic clock; requires a request.
    fileprivate var due: Int64 { max(earliest, min(newest + quiet, (oldest ?? newest) + limit)) }
  }

  /// After a run, a job pauses for this multiple of the run's duration, so that large jobs do not slow the
  /// app down.
  private static let rest: Int64 = 20

  private let condition = ConditionLock()
  private var requested: [Job] = []
  private var thread: SystemThread?
  private var isStopped = false

  /// - Throws: `.closed`, `.noMemory`
  func request(_ job: Job) throws {
    try condition.withLock {
      guard !isStopped else { throw SatchelError(.closed, "the store is closed") }
      if thread == nil {
        thread = SystemThread { [self] in work() }
        if thread == nil { throw SatchelError(.noMemory, "the system cannot start a thread for the store") }
      }
      job.newest = Clock.monotonic.now()
      // A later request only delays the run: the thread detects it when it wakes.
      guard job.oldest == nil else { return }
      job.oldest = job.newest
      requested.append(job)
      condition.signal()
    }
  }

  /// Withdraws the request of a job whose work was done elsewhere.
  func cancel(_ job: Job) {
    condition.withLock {
      job.oldest = nil
      requested.removeAll { $0 === job }
    }
  }

  private func work() {
    while let job = nextDue() {
      let start = Clock.monotonic.now()
      let pause = job.run()
      let end = Clock.monotonic.now()
      condition.withLock {
        job.earliest = end + (pause ?? min(60_000, (end - start) * Self.rest))
        if pause != nil, job.oldest == nil, !isStopped {
          (job.oldest, job.newest) = (end, end)
          requested.append(job)
        }
      }
    }
  }

  /// Waits until a job is due; nil when the store is closing.
  private func nextDue() -> Job? {
    condition.withLock {
      while !isStopped {
        guard let job = requested.min(by: { $0.due < $1.due }) else {
          condition.wait()
          continue
        }
        let left = job.due - Clock.monotonic.now()
        if left <= 0 {
          // Before it runs, so that a request during the run causes another run.
          job.oldest = nil
          requested.removeAll { $0 === job }
          return job
        }
        condition.wait(milliseconds: Int(min(left, 60_000)))
      }
      return nil
    }
  }

  /// Ends the thread, waits for the running job (unless called by it), and runs the requested jobs.
  func finish() {
    let (thread, jobs) = condition.withLock {
      isStopped = true
      condition.signal()
      defer { (self.thread, requested) = (nil, []) }
      return (self.thread, requested)
    }
    if let thread { thread.isCurrent ? thread.detach() : thread.join() }
    for job in jobs { _ = job.run() }
  }
}
