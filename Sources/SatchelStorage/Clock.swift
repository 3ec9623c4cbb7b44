import Synchronization

/// Where the time comes from: Unix milliseconds.
public struct Clock: Sendable {
  /// The time now.
  public var now: @Sendable () -> Int64

  public init(_ now: @escaping @Sendable () -> Int64) { self.now = now }

  /// The system's clock.
  public static let system = Clock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

extension Clock {
  /// For measuring how long something takes, whatever is done to the time of day.
  static var steadyMilliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// A clock that never runs backwards: a host clock that is set back must not make expired content fresh again.
package final class SteadyClock: Sendable {
  /// The furthest time a clock may tell, so that sums with it cannot overflow: the year 100,000 or so.
  package static let latest: Int64 = 3_000_000_000_000_000
  private let host: Clock
  private let highest = Atomic<Int64>(0)

  package init(_ host: Clock) { self.host = host }

  /// The host's time, or the latest time ever told if that is later.
  package func now() -> Int64 { advance(to: host.now()) }

  /// Learns a time that another handle of the same store has told.
  @discardableResult
  package func advance(to time: Int64) -> Int64 {
    let time = min(max(time, 0), Self.latest)
    let (_, told) = highest.max(time, ordering: .relaxed)
    return told
  }
}
