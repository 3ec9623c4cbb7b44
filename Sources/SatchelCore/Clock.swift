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
