import Synchronization

/// A source of the time, in milliseconds.
public struct Clock: Sendable {
  /// The current time.
  public var now: @Sendable () -> Int64

  public init(_ now: @escaping @Sendable () -> Int64) { self.now = now }

  /// The system's wall clock: Unix milliseconds.
  public static let system = Clock { milliseconds(of: CLOCK_REALTIME) }

  /// The system's monotonic clock, for measuring durations: setting the time of day does not change it. Its
  /// times are comparable with each other only.
  public static let monotonic = Clock { milliseconds(of: CLOCK_MONOTONIC) }

  private static func milliseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// The time of a store: the host's, which may be set back.
///
/// Set back by up to 24 hours, it stays at the latest time, so that expired content does not become fresh again.
/// Set back by more, the host's clock was ahead, and its present time counts. A host's clock before 2020 was never
/// set, and is ignored as long as a later time is known.
package final class StoreClock: Sendable {
  /// The latest time that the clock reports, around the year 97,000, so that sums with it cannot overflow.
  package static let latest: Int64 = 3_000_000_000_000_000
  /// The range within which two times may come from clocks that are right, in milliseconds: 24 hours.
  package static let tolerance: Int64 = 24 * 60 * 60 * 1000
  /// The beginning of 2020: clocks without a battery start at 1970, 1980 or 2000.
  package static let earliest: Int64 = 1_577_836_800_000
  private let host: Clock
  private let highest = Atomic<Int64>(0)

  package init(_ host: Clock) { self.host = host }

  /// Returns the current time.
  ///
  /// - Parameter stored: the latest time in the store; ignored where it is ahead
  package func now(after stored: Int64 = 0) -> Int64 {
    let host = min(max(host.now(), 0), Self.latest)
    let stored = min(stored, Self.latest)
    var known = highest.load(ordering: .relaxed)
    while true {
      var time = Self.isAhead(known, of: host) ? host : max(host, known)
      if !Self.isAhead(stored, of: host) { time = max(time, stored) }
      if time == known { return time }
      let (isSet, present) = highest.compareExchange(expected: known, desired: time, ordering: .relaxed)
      if isSet { return time }
      known = present
    }
  }

  /// Whether a time was written with a clock that was ahead: it is more than 24 hours after `now`.
  package static func isAhead(_ time: Int64, of now: Int64) -> Bool {
    now >= earliest && time > now + tolerance
  }

  /// Returns a time that was written elsewhere or earlier; `now` where it is ahead.
  package static func credible(_ time: Int64, at now: Int64) -> Int64 { isAhead(time, of: now) ? now : time }
}
