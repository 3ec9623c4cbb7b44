import SatchelCore

/// Sends requests to an object store with retries and cancellation.
package struct RetryingRequests: Sendable {
  private let retry: Retry
  private let cancellation: Cancellation

  package init(retry: Retry, cancellation: Cancellation) {
    self.retry = retry
    self.cancellation = cancellation
  }

  /// Calls `body` with retries.
  ///
  /// - Throws: the error of the last attempt
  package func attempt<Value>(
    _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    var random = SystemRandomNumberGenerator()
    return try retry.run(
      random: &random,
      pause: { wait throws(ObjectStoreError) in try cancellation.wait(milliseconds: wait) },
      { _ throws(ObjectStoreError) in
        try cancellation.check()
        return try body()
      })
  }

  /// Calls `body` with retries; returns nil when the object does not exist.
  package func ifPresent<Value>(
    _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value? {
    do throws(ObjectStoreError) {
      return try attempt(body)
    } catch {
      guard error.reason == .notFound else { throw error }
      return nil
    }
  }

  /// Waits before the retry of an operation that consists of several requests.
  ///
  /// - Parameter error: the failure of the last attempt
  /// - Throws: `error` when no attempt remains
  package func pause(afterFailures failures: Int, since start: Int64, _ error: any Error) throws {
    try cancellation.check()
    var random = SystemRandomNumberGenerator()
    let wait = retry.delay(
      afterFailures: failures, elapsed: Clock.monotonic.now() - start,
      retryAfter: (error as? ObjectStoreError)?.retryAfter, random: &random)
    guard let wait else { throw error }
    try cancellation.wait(milliseconds: wait)
  }
}
