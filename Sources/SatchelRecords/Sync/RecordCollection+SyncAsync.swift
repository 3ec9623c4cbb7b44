import SatchelRemote
import SatchelStorage

// The library for C is built without: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension RecordCollection {
    /// As the blocking form, on a thread of its own; cancelling the task cancels the sync.
    public func sync(
      with store: any ObjectStore, user: UserID, options: RecordSyncOptions = RecordSyncOptions(),
      progress: (@Sendable (RecordSyncProgress) -> Bool)? = nil
    ) async throws -> RecordSyncReport {
      let isCancelled = Guarded(false)
      var options = options
      let asked = options.cancellation
      options.cancellation = Cancellation { isCancelled.withLock { $0 } || asked.isCancelled() }
      let settled = options
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let thread = SystemThread {
            // Nobody waits for it.
            pthread_detach(pthread_self())
            let call: () throws -> RecordSyncReport = {
              try self.sync(with: store, user: user, options: settled, progress: progress)
            }
            continuation.resume(with: Result(catching: call))
          }
          if thread == nil { continuation.resume(throwing: SatchelError(.noMemory, "no thread to be had")) }
        }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
    }
  }
#endif
