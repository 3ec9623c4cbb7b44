import SatchelStorage

extension Clock {
  /// Milliseconds since some moment in the past, whatever is done to the time of day.
  public static let monotonic = Clock {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

extension Cancellation {
  /// Waits for so many milliseconds, in steps short enough that giving up feels immediate.
  ///
  /// - Throws: `.cancelled`
  public func wait(milliseconds: Int64) throws(ObjectStoreError) {
    let (start, milliseconds) = (Clock.monotonic.now(), max(milliseconds, 0))
    while true {
      try check()
      let left = milliseconds - (Clock.monotonic.now() - start)
      guard left > 0 else { return }
      usleep(UInt32(clamping: min(left, 20) * 1000))
    }
  }
}
