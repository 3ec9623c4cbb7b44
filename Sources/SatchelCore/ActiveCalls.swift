/// Counts the calls in progress, refuses new ones after `close`, and lets `close` wait for the last.
// Unchecked: `condition` guards all state.
package final class ActiveCalls: @unchecked Sendable {
  private let condition = ConditionLock()
  private var count = 0
  private var closed = false

  package init() {}

  package var isClosed: Bool { condition.withLock { closed } }

  /// Runs `body` and counts it as in progress.
  ///
  /// - Throws: `.closed` after `close`, and the errors of `body`
  package func perform<Result>(_ body: () throws -> Result) throws -> Result {
    try condition.withLock {
      if closed { throw SatchelError(.closed, "the store is closed") }
      count += 1
    }
    defer {
      condition.withLock {
        count -= 1
        if closed { condition.signal() }
      }
    }
    return try body()
  }

  /// Refuses new calls and waits until those in progress have returned.
  ///
  /// - Returns: false when it was closed before
  package func close() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if closed { return false }
    closed = true
    while count > 0 { condition.wait() }
    return true
  }
}
