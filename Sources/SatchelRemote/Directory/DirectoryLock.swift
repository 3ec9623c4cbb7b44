import SatchelCore

/// The exclusive write lock of a directory store, held by one thread of one process.
///
/// It is an flock: the kernel releases it when the process ends in any way.
struct DirectoryLock: ~Copyable {
  private let file: Descriptor

  /// - Parameters:
  ///   - reserved: the store's reserved directory
  ///   - timeout: milliseconds
  /// - Throws: `.transient` when the lock is not free within the timeout
  init(in reserved: borrowing Descriptor, timeout: Int64, _ cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    // The file is opened for each lock: two uses of one open file description would share the flock.
    let number = openat(reserved.number, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw .system(errno, "opening the store's lock file") }
    let file = Descriptor(number)
    let start = Clock.monotonic.now()
    var pause: UInt32 = 50
    while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else { throw .system(code, "locking the store") }
      try cancellation.check()
      guard Clock.monotonic.now() - start < timeout else {
        throw ObjectStoreError(
          .transient(retryAfter: nil), "the store has been locked by other writers for \(timeout) ms")
      }
      // A blocking flock could not be cancelled. Random pauses prevent starvation.
      usleep(UInt32.random(in: pause / 2...pause))
      pause = min(pause * 2, 4000)
    }
    self.file = file
  }

  // Closing is not enough: a child process that the host has forked in the meantime has the file open too.
  deinit { flock(file.number, LOCK_UN) }
}
