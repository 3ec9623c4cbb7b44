import SatchelStorage

/// The right to change a directory store, for one thread of one process.
///
/// The kernel keeps it with the open file, and takes it back when the process dies, however it dies.
struct DirectoryLock: ~Copyable {
  private let file: Descriptor

  /// - Parameters:
  ///   - reserved: the store's own directory
  ///   - patience: milliseconds
  /// - Throws: `.transient` when others keep it for longer than that
  init(in reserved: borrowing Descriptor, patience: Int64, _ cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    // Opened each time: two users of one open file would share the lock.
    let number = openat(reserved.number, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw .system(errno, "the lock of the store") }
    let file = Descriptor(number)
    let start = Clock.monotonic.now()
    var pause: UInt32 = 50
    while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else { throw .system(code, "the lock of the store") }
      try cancellation.check()
      guard Clock.monotonic.now() - start < patience else {
        throw ObjectStoreError(.transient(retryAfter: nil), "others have been writing for \(patience) ms")
      }
      // Not a blocking wait, which nobody could cancel; by chance, so that nobody starves.
      usleep(UInt32.random(in: pause / 2...pause))
      pause = min(pause * 2, 4000)
    }
    self.file = file
  }

  // Said, and not left to the closing: a child that the host forked meanwhile has the file open too.
  deinit { flock(file.number, LOCK_UN) }
}
