import SatchelStorage

/// Requests to an object store that are tried again as often as it makes sense, until somebody cancels.
package struct PatientRequests: Sendable {
  private let retry: Retry
  private let cancellation: Cancellation

  package init(retry: Retry, cancellation: Cancellation) {
    self.retry = retry
    self.cancellation = cancellation
  }

  /// - Throws: what the last try met
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

  /// As `attempt`; nil when there is no such object.
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

  /// Waits before something of several requests is tried again.
  ///
  /// - Parameter error: what came of it the last time
  /// - Throws: that, when it is time to give up
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
