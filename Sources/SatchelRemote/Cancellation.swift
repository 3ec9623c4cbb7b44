import SatchelCore

/// A caller's request to stop an operation.
public struct Cancellation: Sendable {
  /// Returns whether the operation should stop. Called repeatedly, from any thread that does the work; must
  /// be fast.
  public var isCancelled: @Sendable () -> Bool

  public init(_ isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }

  /// A cancellation that never happens.
  public static let never = Cancellation { false }

  /// Throws if the caller has cancelled.
  ///
  /// - Throws: `.cancelled`
  public func check() throws(ObjectStoreError) {
    if isCancelled() { throw ObjectStoreError(.cancelled, "cancelled by the caller") }
  }
}

// The C library is built without Swift concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Cancellation {
    /// Runs a blocking call on a new thread. The cancellation passed to `body` combines this one and the
    /// task's.
    package func onOwnThread<Result: Sendable>(
      _ body: @escaping @Sendable (Cancellation) throws -> Result
    ) async throws -> Result {
      let isCancelled = Locked(false)
      let either = Cancellation { isCancelled.withLock { $0 } || self.isCancelled() }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let thread = SystemThread {
            // The thread is never joined.
            pthread_detach(pthread_self())
            let call: () throws -> Result = { try body(either) }
            continuation.resume(with: Swift.Result(catching: call))
          }
          if thread == nil {
            continuation.resume(throwing: SatchelError(.noMemory, "a thread cannot be created"))
          }
        }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
    }
  }
#endif

extension Cancellation {
  /// Waits, checking for cancellation every 20 ms.
  ///
  /// - Throws: `.cancelled`
  package func wait(milliseconds: Int64) throws(ObjectStoreError) {
    let (start, milliseconds) = (Clock.monotonic.now(), max(milliseconds, 0))
    while true {
      try check()
      let left = milliseconds - (Clock.monotonic.now() - start)
      guard left > 0 else { return }
      usleep(UInt32(clamping: min(left, 20) * 1000))
    }
  }
}
