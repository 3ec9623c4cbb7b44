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

/// A wall clock that never runs backwards, so that setting the host's clock back does not make expired content
/// fresh again.
package final class NonDecreasingClock: Sendable {
  /// The latest time that the clock reports, around the year 97,000, so that sums with it cannot overflow.
  package static let latest: Int64 = 3_000_000_000_000_000
  private let host: Clock
  private let highest = Atomic<Int64>(0)

  package init(_ host: Clock) { self.host = host }

  /// Returns the host's time, or the latest time that was reported before if that is later.
  package func now() -> Int64 { advance(to: host.now()) }

  /// Records a time that another handle of the same store has reported.
  @discardableResult
  package func advance(to time: Int64) -> Int64 {
    let time = min(max(time, 0), Self.latest)
    let (_, latest) = highest.max(time, ordering: .relaxed)
    return latest
  }
}
