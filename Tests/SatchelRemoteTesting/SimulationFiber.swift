import SatchelStorage

/// A thread that runs only when it is told to, and until it pauses: one baton goes from the scheduler to a fiber and
/// back, so that what several of them do is one sequence, and the same one each time.
// Unchecked: `turn` and `job` are touched only with the monitor held.
package final class SimulationFiber: @unchecked Sendable {
  private enum Turn { case scheduler, fiber, over }

  private let monitor = Monitor()
  private var turn = Turn.scheduler
  private var job: (@Sendable () -> Void)?
  private var thread: SystemThread?

  package init() {}

  /// Whether a job has begun and not ended.
  package var isBusy: Bool { monitor.withLock { job != nil } }

  /// Gives it something to do, of which nothing is done yet.
  package func begin(_ job: @escaping @Sendable () -> Void) {
    monitor.withLock {
      self.job = job
      if thread == nil { thread = SystemThread { [self] in loop() } }
    }
  }

  /// Lets it run until it pauses or its job ends.
  package func resume() {
    monitor.withLock {
      turn = .fiber
      monitor.signal()
      while turn == .fiber { monitor.wait() }
    }
  }

  /// Gives the baton back; called by the job.
  package func pause() {
    monitor.withLock {
      turn = .scheduler
      monitor.signal()
      while turn == .scheduler { monitor.wait() }
    }
  }

  /// Ends the thread. No job may be under way.
  package func stop() {
    let running = monitor.withLock { () -> SystemThread? in
      turn = .over
      monitor.signal()
      defer { thread = nil }
      return thread
    }
    running?.join()
  }

  private func loop() {
    while true {
      monitor.lock()
      while turn == .scheduler { monitor.wait() }
      let (isOver, work) = (turn == .over, job)
      monitor.unlock()
      if isOver { return }
      work?()
      monitor.withLock {
        job = nil
        turn = .scheduler
        monitor.signal()
      }
    }
  }
}
