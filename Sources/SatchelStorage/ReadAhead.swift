/// Threads that work through a list, a few items at once, and keep what comes of each until it is taken in the list's
/// order. They wait when they are too far ahead of whoever takes, so that memory stays bounded.
// Unchecked: what changes is behind the monitor.
package final class ReadAhead<Item: Sendable, Outcome: Sendable>: @unchecked Sendable {
  private let items: [Item]
  private let ahead: Int
  private let monitor = Monitor()
  private var threads: [SystemThread] = []
  private var outcomes: [Int: Outcome] = [:]
  /// The next item to be worked on, and the next outcome to be taken.
  private var claimed = 0
  private var taken = 0
  private var hasStopped = false

  /// Begins to work. Whoever makes one stops it.
  ///
  /// - Parameters:
  ///   - ahead: how many outcomes may wait to be taken, those under way included
  ///   - threads: how many, at most
  ///   - work: what each thread does: asks for the `next()` item, and gives its outcome, until there is none or it is
  ///     stopped
  package init(
    _ items: [Item], ahead: Int, threads count: Int, _ work: @escaping @Sendable (ReadAhead) -> Void
  ) {
    self.items = items
    self.ahead = ahead
    for _ in 0..<max(0, min(count, items.count)) {
      guard let thread = SystemThread({ [self] in work(self) }) else { break }
      threads.append(thread)
    }
  }

  /// Gives up what is not begun, and waits for the threads. To be called whatever happened.
  package func stop() {
    let running = monitor.withLock {
      hasStopped = true
      monitor.signal()
      defer { threads = [] }
      return threads
    }
    for thread in running { thread.join() }
  }

  // MARK: Working

  /// Waits until there is room, and takes the next item.
  ///
  /// - Returns: nil when there is none left, or it was stopped
  package func next() -> (index: Int, item: Item)? {
    monitor.withLock {
      while !hasStopped, claimed < items.count, claimed - taken >= ahead { monitor.wait() }
      guard !hasStopped, claimed < items.count else { return nil }
      defer { claimed += 1 }
      return (claimed, items[claimed])
    }
  }

  /// What came of the item with this index.
  package func give(_ outcome: Outcome, at index: Int) {
    monitor.withLock {
      outcomes[index] = outcome
      monitor.signal()
    }
  }

  /// Whether work under way is no longer wanted.
  package var isStopped: Bool { monitor.withLock { hasStopped } }

  // MARK: Taking

  /// Whether there is a thread that works.
  package var isRunning: Bool { monitor.withLock { !threads.isEmpty } }

  /// How many items are done.
  package var done: Int { monitor.withLock { taken + outcomes.count } }

  /// Whether all outcomes were taken.
  package var isFinished: Bool { monitor.withLock { taken == items.count } }

  /// Waits for the next outcome in the list's order, and takes it.
  ///
  /// - Returns: nil when there is none left, or nobody who works on it
  package func take() -> Outcome? {
    monitor.withLock {
      while !threads.isEmpty, taken < items.count, outcomes[taken] == nil { monitor.wait() }
      guard let outcome = outcomes.removeValue(forKey: taken) else { return nil }
      taken += 1
      monitor.signal()
      return outcome
    }
  }

  /// Takes outcomes in the order of the list, as far as they are there.
  package func take(atMost limit: Int) -> (first: Int, outcomes: [Outcome]) {
    monitor.withLock {
      let first = taken
      var ready: [Outcome] = []
      while ready.count < limit, let outcome = outcomes.removeValue(forKey: taken) {
        ready.append(outcome)
        taken += 1
      }
      monitor.signal()
      return (first, ready)
    }
  }

  /// Waits for so many outcomes that follow those taken before, but no longer than so many milliseconds.
  ///
  /// - Returns: whether they are there, or all that remain
  package func wait(for wanted: Int, milliseconds: Int) -> Bool {
    let end = Clock.steadyMilliseconds + Int64(milliseconds)
    return monitor.withLock {
      while !isReady(wanted) {
        let left = end - Clock.steadyMilliseconds
        if left <= 0 { return false }
        monitor.wait(milliseconds: Int(left))
      }
      return true
    }
  }

  private func isReady(_ wanted: Int) -> Bool {
    let end = min(taken + wanted, items.count)
    return outcomes.count >= end - taken && (taken..<end).allSatisfy { outcomes[$0] != nil }
  }
}
