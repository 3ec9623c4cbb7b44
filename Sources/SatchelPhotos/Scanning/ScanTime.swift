import SatchelStorage

/// Measures how long a scan takes, whatever is done to the time of day.
enum ScanTime {
  /// Milliseconds since some time in the past.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
