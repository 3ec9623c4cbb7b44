import SatchelRemote

// The library for C is built without: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension RecordCollection {
    /// Synchronizes the collection as the blocking form does, on a thread of its own; cancelling the task
    /// cancels the sync.
    public func sync(
      with store: any ObjectStore, user: UserID, options: RecordSyncOptions = RecordSyncOptions(),
      progress: (@Sendable (RecordSyncProgress) -> Bool)? = nil
    ) async throws -> RecordSyncReport {
      try await options.cancellation.onOwnThread { cancellation in
        var options = options
        options.cancellation = cancellation
        return try self.sync(with: store, user: user, options: options, progress: progress)
      }
    }
  }
#endif
