import SatchelStorage

/// How often and how soon to try again: exponential backoff with full jitter, bounded by attempts and by time.
///
/// A value that decides and does nothing: time and chance are given to it.
public struct Retry: Sendable, Equatable {
  /// The most attempts, the first one included; less than 1 means 1.
  public var attempts: Int
  /// The longest wait after the first failure, in milliseconds; doubled with each further one.
  public var base: Int64
  /// The longest wait after any failure, in milliseconds, unless the store asks for more.
  public var ceiling: Int64
  /// No attempt begins later than so many milliseconds after the first.
  public var limit: Int64

  public init(attempts: Int = 6, base: Int64 = 200, ceiling: Int64 = 10_000, limit: Int64 = 60_000) {
    self.attempts = attempts
    self.base = base
    self.ceiling = ceiling
    self.limit = limit
  }

  /// How long to wait before the next attempt.
  ///
  /// - Parameters:
  ///   - failures: how many attempts have failed so far, 1 or more
  ///   - elapsed: milliseconds since the first attempt began
  ///   - retryAfter: milliseconds that the store asked for, if it did
  /// - Returns: milliseconds; nil when it is time to give up
  public func delay(
    afterFailures failures: Int, elapsed: Int64, retryAfter: Int64? = nil,
    random: inout some RandomNumberGenerator
  ) -> Int64? {
    guard failures < attempts else { return nil }
    let left = limit.subtractingReportingOverflow(max(elapsed, 0))
    guard !left.overflow, left.partialValue > 0 else { return nil }
    let jitter = Int64.random(in: 0...window(afterFailures: failures), using: &random)
    // Also on top of what the store asked for, so that not all who were sent away come back at once.
    let (wait, overflow) = max(retryAfter ?? 0, 0).addingReportingOverflow(jitter)
    if !overflow, wait <= left.partialValue { return wait }
    // The jitter may be cut, the store's wish may not.
    let wish = max(retryAfter ?? 0, 0)
    return wish <= left.partialValue ? left.partialValue : nil
  }

  /// The longest wait that chance can give.
  private func window(afterFailures failures: Int) -> Int64 {
    let (base, ceiling) = (max(base, 0), max(ceiling, 0))
    let shift = max(failures, 1) - 1
    guard shift < 62, base <= ceiling >> Int64(shift) else { return ceiling }
    return base << Int64(shift)
  }

  /// Does something until it succeeds, fails for good, or the bounds are reached; then the last error is thrown.
  ///
  /// - Parameters:
  ///   - clock: tells how much time has passed; one that cannot be set, outside of tests
  ///   - pause: waits for so many milliseconds
  ///   - body: gets the number of the attempt, from 1
  public func run<Result>(
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
