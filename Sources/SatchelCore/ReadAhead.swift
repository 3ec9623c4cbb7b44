/// Processes a list on several threads, and keeps each outcome until the consumer takes it in the list's
/// order. The threads pause when they are too far ahead of the consumer, so that memory stays bounded.
// Unchecked: `condition` guards all mutable state.
package final class ReadAhead<Item: Sendable, Outcome: Sendable>: @unchecked Sendable {
  private let items: [Item]
  private let ahead: Int
  private let condition = ConditionLock()
  private var threads: [SystemThread] = []
  private var outcomes: [Int: Outcome] = [:]
  /// Indexes of the next item to process and of the next outcome to take.
  private var nextItem = 0
  private var nextOutcome = 0
  private var hasStopped = false

  /// Starts the threads. The caller must call `stop`.
  ///
  /// - Parameters:
  ///   - ahead: the maximum number of outcomes that are in progress or wait to be taken
  ///   - threads: the maximum number of threads
  ///   - work: what each thread runs: it calls `next()` and `finish(_:at:)` until `next()` returns nil
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

  /// Drops the items that are not begun, and waits for the threads. Must always be called.
  package func stop() {
    let running = condition.withLock {
      hasStopped = true
      condition.signal()
      defer { threads = [] }
      return threads
    }
    for thread in running { thread.join() }
  }

  // MARK: Working

  /// Waits until an item may be processed, and returns it.
  ///
  /// - Returns: nil at the end of the list, or after `stop`
  package func next() -> (index: Int, item: Item)? {
    condition.withLock {
      while !hasStopped, nextItem < items.count, nextItem - nextOutcome >= ahead { condition.wait() }
      guard !hasStopped, nextItem < items.count else { return nil }
      defer { nextItem += 1 }
      return (nextItem, items[nextItem])
    }
  }

  /// Stores the outcome of the item at `index`.
  package func finish(_ outcome: Outcome, at index: Int) {
    condition.withLock {
      outcomes[index] = outcome
      condition.signal()
    }
  }

  /// Whether `stop` was called, so that work in progress is no longer wanted.
  package var isStopped: Bool { condition.withLock { hasStopped } }

  // MARK: Consuming

  /// Whether any thread is running.
  package var isRunning: Bool { condition.withLock { !threads.isEmpty } }

  /// The number of processed items.
  package var done: Int { condition.withLock { nextOutcome + outcomes.count } }

  /// Whether all outcomes were taken.
  package var isFinished: Bool { condition.withLock { nextOutcome == items.count } }

  /// Waits for the next outcome in the list's order, and removes it.
  ///
  /// - Returns: nil at the end of the list, or when no thread can produce it
  package func popOutcome() -> Outcome? {
    condition.withLock {
      while !threads.isEmpty, nextOutcome < items.count, outcomes[nextOutcome] == nil { condition.wait() }
      guard let outcome = outcomes.removeValue(forKey: nextOutcome) else { return nil }
      nextOutcome += 1
      condition.signal()
      return outcome
    }
  }

  /// Removes the outcomes that are ready, in the list's order, without waiting.
  package func popOutcomes(limit: Int) -> (first: Int, outcomes: [Outcome]) {
    condition.withLock {
      let first = nextOutcome
      var ready: [Outcome] = []
      while ready.count < limit, let outcome = outcomes.removeValue(forKey: nextOutcome) {
        ready.append(outcome)
        nextOutcome += 1
      }
      condition.signal()
      return (first, ready)
    }
  }

  /// Waits, for at most `milliseconds`, until the next `wanted` outcomes are ready.
  ///
  /// - Returns: whether they are ready, or all that remain
  package func wait(for wanted: Int, milliseconds: Int) -> Bool {
    let end = Clock.monotonic.now() + Int64(milliseconds)
    return condition.withLock {
      while !isReady(wanted) {
        let left = end - Clock.monotonic.now()
        if left <= 0 { return false }
        condition.wait(milliseconds: Int(left))
      }
      return true
    }
  }

  private func isReady(_ wanted: Int) -> Bool {
    let end = min(nextOutcome + wanted, items.count)
    return outcomes.count >= end - nextOutcome && (nextOutcome..<end).allSatisfy { outcomes[$0] != nil }
  }
}
