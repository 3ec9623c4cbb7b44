/// A recursive mutex with a condition variable.
// Unchecked: pthread objects may be used from any thread, and never move.
package final class ConditionLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      // Monotonic: setting the time of day back must not lengthen a wait.
      var waiting = pthread_condattr_t()
      pthread_condattr_init(&waiting)
      pthread_condattr_setclock(&waiting, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &waiting)
      pthread_condattr_destroy(&waiting)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }
  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Acquires the lock, or returns false after `milliseconds`.
  package func lock(milliseconds: Int) -> Bool {
    #if canImport(Darwin)
      // Darwin has no pthread_mutex_timedlock.
      var left = milliseconds
      while pthread_mutex_trylock(mutex) != 0 {
        guard left > 0 else { return false }
        left -= 5
        usleep(5000)
      }
      return true
    #else
      var until = Self.time(in: milliseconds, by: CLOCK_REALTIME)
      return pthread_mutex_timedlock(mutex, &until) == 0
    #endif
  }

  private static func time(in milliseconds: Int, by clock: clockid_t) -> timespec {
    var time = timespec()
    clock_gettime(clock, &time)
    let nanoseconds = time.tv_nsec + (milliseconds % 1000) * 1_000_000
    time.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
    time.tv_nsec = nanoseconds % 1_000_000_000
    return time
  }

  package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Waits for `signal()`. The caller holds the lock exactly once, and holds it again afterwards.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Waits for `signal()`, for at most `milliseconds`.
  package func wait(milliseconds: Int) {
    #if canImport(Darwin)
      var left = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
      pthread_cond_timedwait_relative_np(condition, mutex, &left)
    #else
      var until = Self.time(in: milliseconds, by: CLOCK_MONOTONIC)
      pthread_cond_timedwait(condition, mutex, &until)
    #endif
  }

  /// Wakes all waiting threads.
  package func signal() { pthread_cond_broadcast(condition) }
}

/// A value that a lock guards. It uses pthreads, as all locks of the library do, because thread sanitizers do
/// not see the locks of the Synchronization module.
// Unchecked: the value is accessed only with the lock held.
package final class Locked<Value>: @unchecked Sendable {
  private let lock = ConditionLock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}

/// A value that is made when it is first needed, once.
// Unchecked: `made` is accessed with the lock held.
package final class Lazy<Value: Sendable>: @unchecked Sendable {
  private let lock = ConditionLock()
  private var made: Value?

  package init() {}

  /// The value; nil while it was not needed.
  package var known: Value? { lock.withLock { made } }

  /// Returns the value, made by `make` the first time. `make` must not need another value that is made by way of this
  /// one.
  package func value(_ make: () throws -> Value) rethrows -> Value {
    try lock.withLock {
      if let made { return made }
      let value = try make()
      made = value
      return value
    }
  }
}
