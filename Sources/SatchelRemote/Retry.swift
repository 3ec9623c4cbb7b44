import SatchelCore

/// A retry policy: exponential backoff with full jitter, limited by attempts and by time.
///
/// The clock and the random numbers are passed in, so that tests are deterministic.
public struct Retry: Sendable, Equatable {
  /// The maximum number of attempts, including the first; less than 1 means 1.
  public var attempts: Int
  /// The maximum delay after the first failure, in milliseconds; doubled after each further failure.
  public var base: Int64
  /// The maximum delay after any failure, in milliseconds, unless the store requests a longer one.
  public var ceiling: Int64
  /// The time limit in milliseconds: no attempt begins later than this after the first.
  public var limit: Int64

  public init(attempts: Int = 6, base: Int64 = 200, ceiling: Int64 = 10_000, limit: Int64 = 60_000) {
    self.attempts = attempts
    self.base = base
    self.ceiling = ceiling
    self.limit = limit
  }

  /// Returns the delay before the next attempt.
  ///
  /// - Parameters:
  ///   - failures: the number of attempts that have failed so far, 1 or more
  ///   - elapsed: milliseconds since the first attempt began
  ///   - retryAfter: milliseconds that the store requested, if it did
  /// - Returns: milliseconds; nil when no attempt remains
  package func delay(
    afterFailures failures: Int, elapsed: Int64, retryAfter: Int64? = nil,
    random: inout some RandomNumberGenerator
  ) -> Int64? {
    guard failures < attempts else { return nil }
    let left = limit.subtractingReportingOverflow(max(elapsed, 0))
    guard !left.overflow, left.partialValue > 0 else { return nil }
    let jitter = Int64.random(in: 0...window(afterFailures: failures), using: &random)
    // The jitter is added to the store's delay too, so that clients do not all retry at the same moment.
    let (wait, overflow) = max(retryAfter ?? 0, 0).addingReportingOverflow(jitter)
    if !overflow, wait <= left.partialValue { return wait }
    // The jitter may be shortened, the store's delay may not.
    let minimum = max(retryAfter ?? 0, 0)
    return minimum <= left.partialValue ? left.partialValue : nil
  }

  /// The maximum jitter.
  private func window(afterFailures failures: Int) -> Int64 {
    let (base, ceiling) = (max(base, 0), max(ceiling, 0))
    let shift = max(failures, 1) - 1
    guard shift < 62, base <= ceiling >> Int64(shift) else { return ceiling }
    return base << Int64(shift)
  }

  /// Calls `body` until it succeeds, throws an error that is not transient, or a limit is reached.
  ///
  /// - Parameters:
  ///   - clock: a monotonic clock, in milliseconds
  ///   - pause: waits for the given number of milliseconds
  ///   - body: called with the number of the attempt, from 1
  /// - Throws: the error of the last attempt, or of `pause`
  package func run<Result>(
    clock: Clock = .monotonic, random: inout some RandomNumberGenerator,
    pause: (Int64) throws(ObjectStoreError) -> Void,
    _ body: (Int) throws(ObjectStoreError) -> Result
  ) throws(ObjectStoreError) -> Result {
    let start = clock.now()
    var failures = 0
    while true {
      do throws(ObjectStoreError) {
        return try body(failures + 1)
      } catch {
        failures += 1
        guard error.isTransient else { throw error }
        let elapsed = clock.now().subtractingReportingOverflow(start)
        guard !elapsed.overflow,
          let wait = delay(
            afterFailures: failures, elapsed: elapsed.partialValue, retryAfter: error.retryAfter,
            random: &random)
        else { throw error }
        try pause(wait)
      }
    }
  }
}

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

  /// Calls `body` with retries, also after a lost response: it may be repeated.
  package func repeating<Value>(
    _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    try attempt { () throws(ObjectStoreError) in
      do throws(ObjectStoreError) {
        return try body()
      } catch {
        guard case .unknownOutcome(let wait) = error.reason else { throw error }
        throw ObjectStoreError(.transient(retryAfter: wait), error.message)
      }
    }
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

/// A caller's request to stop an operation.
public struct Cancellation: Sendable {
  /// Returns whether the operation should stop. Called repeatedly, from any thread that does the work; must
  /// be fast.
  public var isCancelled: @Sendable () -> Bool

  public init(_ isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }

  /// A cancellation that never happens.
  public static let never = Cancellation { false }

  /// Throws if the caller has cancelled.
  ///
  /// - Throws: `.cancelled`
  public func check() throws(ObjectStoreError) {
    if isCancelled() { throw ObjectStoreError(.cancelled, "cancelled by the caller") }
  }
}

// The C library is built without Swift concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Cancellation {
    /// Runs a blocking call on a new thread. The cancellation passed to `body` combines this one and the
    /// task's.
    package func onOwnThread<Result: Sendable>(
      _ body: @escaping @Sendable (Cancellation) throws -> Result
    ) async throws -> Result {
      let isCancelled = Locked(false)
      let either = Cancellation { isCancelled.withLock { $0 } || self.isCancelled() }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let thread = SystemThread {
            // The thread is never joined.
            pthread_detach(pthread_self())
            let call: () throws -> Result = { try body(either) }
            continuation.resume(with: Swift.Result(catching: call))
          }
          if thread == nil {
            continuation.resume(throwing: SatchelError(.noMemory, "a thread cannot be created"))
          }
        }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
    }
  }
#endif

extension Cancellation {
  /// Waits, checking for cancellation every 20 ms.
  ///
  /// - Throws: `.cancelled`
  package func wait(milliseconds: Int64) throws(ObjectStoreError) {
    let (start, milliseconds) = (Clock.monotonic.now(), max(milliseconds, 0))
    while true {
      try check()
      let left = milliseconds - (Clock.monotonic.now() - start)
      guard left > 0 else { return }
      usleep(UInt32(clamping: min(left, 20) * 1000))
    }
  }
}
