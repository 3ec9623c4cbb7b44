/// A thread of its own that does one piece of work after the other; started with the first.
// Unchecked: all state is behind the monitor.
package final class Worker: @unchecked Sendable {
  private let monitor = Monitor()
  private var waiting: [@Sendable () -> Void] = []
  private var thread: SystemThread?
  private var isStopped = false

  package init() {}

  /// Adds a piece of work. After `stop` it is given up.
  package func add(_ work: @escaping @Sendable () -> Void) throws {
    try monitor.withLock {
      guard !isStopped else { return }
      if thread == nil {
        thread = SystemThread { [self] in run() }
        if thread == nil { throw SatchelError(.noMemory, "no thread to be had") }
      }
      waiting.append(work)
      monitor.signal()
    }
  }

  private func run() {
    while true {
      monitor.lock()
      while waiting.isEmpty && !isStopped { monitor.wait() }
      if isStopped {
        monitor.unlock()
        return
      }
      let work = waiting.removeFirst()
      monitor.unlock()
      work()
    }
  }

  /// Gives up what waits, and waits for what is under way, unless called by it.
  ///
  /// - Parameter waits: false for a caller that what is under way may wait for
  package func stop(waits: Bool = true) {
    let running = monitor.withLock { () -> SystemThread? in
      isStopped = true
      waiting = []
      monitor.signal()
      // A thread may be joined only once, however often this is called.
      guard let running = thread else { return nil }
      thread = nil
      guard waits, !running.isCurrent else {
        running.detach()
        return nil
      }
      return running
    }
    running?.join()
  }
}
