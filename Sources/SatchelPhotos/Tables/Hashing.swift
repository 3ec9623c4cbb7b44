import SatchelStorage

/// The SHA-256 of bytes, worked out on another thread meanwhile.
final class Hashing {
  private let thread: SystemThread
  private let result = Guarded("")
  private var isJoined = false

  /// - Parameter bytes: must stay as they are until `wait` or `checksum` was called
  /// - Returns: nil when there is no thread to be had
  init?(_ bytes: UnsafeRawBufferPointer) {
    // Nobody writes to them meanwhile.
    nonisolated(unsafe) let bytes = bytes
    let result = result
    guard
      let thread = SystemThread({
        let checksum = Shard.checksum(bytes)
        result.withLock { $0 = checksum }
      })
    else { return nil }
    self.thread = thread
  }

  deinit { wait() }

  func wait() {
    guard !isJoined else { return }
    isJoined = true
    thread.join()
  }

  /// 64 hexadecimal digits.
  func checksum() -> String {
    wait()
    return result.withLock { $0 }
  }
}
