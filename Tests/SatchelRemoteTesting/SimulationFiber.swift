import SatchelCore
import SatchelStorage

/// A thread that the scheduler resumes, and that runs until it pauses. Only one of the scheduler and its
/// fibers runs at a time, so that their steps are one reproducible sequence.
// Unchecked: `turn` and `job` are accessed only while the lock is held.
package final class SimulationFiber: @unchecked Sendable {
  private enum Turn { case scheduler, fiber, over }

  private let lock = ConditionLock()
  private var turn = Turn.scheduler
  private var job: (@Sendable () -> Void)?
  private var thread: SystemThread?

  package init() {}

  /// Whether a job is running.
  package var isBusy: Bool { lock.withLock { job != nil } }

  /// Sets the next job, which the next `resume()` starts.
  package func begin(_ job: @escaping @Sendable () -> Void) {
    lock.withLock {
      self.job = job
      if thread == nil { thread = SystemThread { [self] in loop() } }
    }
  }

  /// Runs the fiber until it pauses or its job ends.
  package func resume() {
    lock.withLock {
      turn = .fiber
      lock.signal()
      while turn == .fiber { lock.wait() }
    }
  }

  /// Returns control to the scheduler; called by the job.
  package func pause() {
    lock.withLock {
      turn = .scheduler
      lock.signal()
      while turn == .scheduler { lock.wait() }
    }
  }

  /// Ends the thread. No job may be running.
  package func stop() {
    let running = lock.withLock { () -> SystemThread? in
      turn = .over
      lock.signal()
      defer { thread = nil }
      return thread
    }
    running?.join()
  }

  private func loop() {
    while true {
      lock.lock()
      while turn == .scheduler { lock.wait() }
      let (isOver, work) = (turn == .over, job)
      lock.unlock()
      if isOver { return }
      work?()
      lock.withLock {
        job = nil
        turn = .scheduler
        lock.signal()
      }
    }
  }
}
