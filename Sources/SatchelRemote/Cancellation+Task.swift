import SatchelStorage

// The library for C is built without: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Cancellation {
    /// Runs a call that blocks on a thread of its own. What it is given is cancelled with this, and with the task.
    package func onOwnThread<Result: Sendable>(
      _ body: @escaping @Sendable (Cancellation) throws -> Result
    ) async throws -> Result {
      let isCancelled = Guarded(false)
      let either = Cancellation { isCancelled.withLock { $0 } || self.isCancelled() }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let thread = SystemThread {
            // Nobody waits for it.
            pthread_detach(pthread_self())
            let call: () throws -> Result = { try body(either) }
            continuation.resume(with: Swift.Result(catching: call))
          }
          if thread == nil { continuation.resume(throwing: SatchelError(.noMemory, "no thread to be had")) }
        }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
    }
  }
#endif
