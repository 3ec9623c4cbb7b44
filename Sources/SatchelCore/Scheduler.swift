/// Runs the work of one store for which no call waits: saving, rewriting, notifying, checkpointing.
///
/// It has two threads, because some of that work is long, and saving must not wait for it: one for jobs that end soon,
/// one for those that take long or call the host. Each thread starts with the first request of one of its jobs, and ends
/// with the store. Times are those of the monotonic clock, in milliseconds.
package final class Scheduler: Sendable {
  /// For jobs that end soon.
  package let prompt = JobThread()
  /// For jobs that take long, or that call the host, which may.
  package let long = JobThread()

  package init() {}

  /// Drops all requests, and waits for the jobs in progress, except for one that calls this.
  package func stop() {
    for thread in [prompt, long] { thread.stop() }
  }
}

/// A thread that runs jobs when they are due, one after the other. It starts with the first request.
// Unchecked: `condition` guards all state.
package final class JobThread: @unchecked Sendable {
  /// Work that runs again and again. Requests of a job that is not due yet are one request.
  package final class Job: Sendable {
    fileprivate let thread: JobThread
    fileprivate let run: @Sendable () -> Int64?

    /// - Parameter run: returns when to run again, which may be later than it was requested for; nil when there is
    ///   nothing to do until the next request
    fileprivate init(_ thread: JobThread, _ run: @escaping @Sendable () -> Int64?) {
      self.thread = thread
      self.run = run
    }

    /// Lets the job run at a time, by default now; at the earliest of those for which it was requested.
    ///
    /// - Throws: `.closed` when the store has closed, `.noMemory` when the thread cannot be started
    package func request(at due: Int64 = Clock.monotonic.now()) throws { try thread.request(self, at: due) }

    /// Withdraws the request of the job.
    ///
    /// - Returns: whether there was one; false while the job runs and was not requested again
    @discardableResult
    package func withdraw() -> Bool { thread.condition.withLock { thread.requests.remove(self) } }

    /// Withdraws the request, and waits for the end of the run in progress, unless that run calls this.
    package func cancel() { thread.cancel(self) }
  }

  fileprivate let condition = ConditionLock()
  fileprivate var requests = Requests<Job>()
  private var running: Job?
  private var thread: SystemThread?
  private var isStopped = false

  package init() {}

  /// Makes a job of this thread, without requesting it. It must not retain the store, which otherwise never closes.
  package func job(_ run: @escaping @Sendable () -> Int64?) -> Job { Job(self, run) }

  private func request(_ job: Job, at due: Int64) throws {
    try condition.withLock {
      guard !isStopped else { throw SatchelError(.closed, "the store is closed") }
      if thread == nil {
        thread = SystemThread(inheritsWork: false) { [self] in work() }
        if thread == nil { throw SatchelError(.noMemory, "the system cannot start a thread for the store") }
      }
      if requests.add(job, at: due) { condition.signal() }
    }
  }

  private func work() {
    while let job = nextDue() {
      let again = job.run()
      condition.withLock {
        running = nil
        if let again, !isStopped { requests.add(job, at: again) }
        condition.signal()
      }
    }
  }

  /// Waits until a job is due; nil when the thread has to end.
  private func nextDue() -> Job? {
    condition.withLock {
      while !isStopped {
        guard let due = requests.earliest else {
          condition.wait()
          continue
        }
        let now = Clock.monotonic.now()
        if let job = requests.takeDue(at: now) {
          running = job
          return job
        }
        condition.wait(milliseconds: Int(min(due - now, 60_000)))
      }
      return nil
    }
  }

  private func cancel(_ job: Job) {
    condition.withLock {
      requests.remove(job)
      guard thread?.isCurrent != true else { return }
      while running === job { condition.wait() }
      // A run that ended may have asked to run again.
      requests.remove(job)
    }
  }

  /// Drops all requests, and waits for the job in progress, unless that calls this. No job runs afterwards.
  package func stop() {
    let ending = condition.withLock { () -> SystemThread? in
      isStopped = true
      requests = Requests()
      condition.signal()
      defer { thread = nil }
      return thread
    }
    // A job may release the store, which then closes on this thread.
    if let ending { ending.isCurrent ? ending.detach() : ending.join() }
  }
}

/// When jobs are due. A value, which neither reads a clock nor waits.
struct Requests<Job: AnyObject> {
  /// A few: one for each kind of work.
  private var jobs: [(job: Job, due: Int64)] = []

  /// The earliest time; nil when nothing is requested.
  var earliest: Int64? { jobs.lazy.map(\.due).min() }

  /// Adds a request, or makes one earlier.
  ///
  /// - Returns: whether the earliest time has changed
  @discardableResult
  mutating func add(_ job: Job, at due: Int64) -> Bool {
    let before = earliest ?? .max
    if let index = jobs.firstIndex(where: { $0.job === job }) {
      jobs[index].due = min(jobs[index].due, due)
    } else {
      jobs.append((job, due))
    }
    return due < before
  }

  /// Returns whether there was a request.
  @discardableResult
  mutating func remove(_ job: Job) -> Bool {
    guard let index = jobs.firstIndex(where: { $0.job === job }) else { return false }
    jobs.remove(at: index)
    return true
  }

  /// Removes and returns the job that has been due for longest; nil when none is due.
  mutating func takeDue(at now: Int64) -> Job? {
    guard let index = jobs.indices.min(by: { jobs[$0].due < jobs[$1].due }), jobs[index].due <= now else {
      return nil
    }
    return jobs.remove(at: index).job
  }
}
