/// The time from a failure to the next attempt of work for which no call waits: 5 seconds, doubled with each further
/// failure, up to an hour.
package enum Backoff {
  private static let first: Int64 = 5_000
  private static let longest: Int64 = 60 * 60 * 1000

  /// - Parameters:
  ///   - attempts: the failures so far, this one included
  ///   - isFinal: whether trying again soon is useless
  ///   - jitter: 0 to 1. Half of the time is at random, so that devices that failed together do not try again together
  /// - Returns: milliseconds
  package static func wait(afterAttempts attempts: Int, isFinal: Bool, jitter: Double) -> Int64 {
    let wait = isFinal ? longest : min(first << Int64(min(max(attempts - 1, 0), 20)), longest)
    return wait / 2 + Int64(Double(wait / 2) * jitter)
  }
}
