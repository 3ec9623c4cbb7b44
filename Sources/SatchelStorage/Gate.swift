/// Lets calls through until it is closed, and closes only when the last one has come out.
// Unchecked: all state is behind the monitor.
final class Gate: @unchecked Sendable {
  private let monitor = Monitor()
  private var inside = 0
  private var closed = false

  var isClosed: Bool { monitor.withLock { closed } }

  func pass<Result>(_ body: () throws -> Result) throws -> Result {
    try monitor.withLock {
      if closed { throw SatchelError(.closed, "the store is closed") }
      inside += 1
    }
    defer {
      monitor.withLock {
        inside -= 1
        if closed { monitor.signal() }
      }
    }
    return try body()
  }

  /// - Returns: false when it was closed before.
  func close() -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    if closed { return false }
    closed = true
    while inside > 0 { monitor.wait() }
    return true
  }
}
