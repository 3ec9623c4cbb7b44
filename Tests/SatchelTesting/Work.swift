import Glibc

/// The work of a thread, counted so that it does not depend on the load of the machine.
package enum Work {
  /// The processor's time that this thread takes for it, in seconds.
  package static func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    try body()
    return now() - start
  }

  /// RUSAGE_THREAD, which Swift does not see.
  private static let thisThread: Int32 = 1

  /// How often this thread waits meanwhile: for a pause to end, a lock, the disk.
  package static func waits(_ body: () throws -> Void) rethrows -> Int {
    func count() -> Int {
      var usage = rusage()
      getrusage(Self.thisThread, &usage)
      return usage.ru_nvcsw
    }
    let start = count()
    try body()
    return count() - start
  }
}
