extension Store {
  /// A registered observer; it is removed by `cancel()` or when the last copy is released.
  public struct Observation: Sendable {
    fileprivate let subscription: ChangeFeed.Subscription

    public func cancel() { subscription.cancel() }
  }

  /// Calls `handler` for every change after its commit: for changes of this store on the thread that made
  /// them, for those of other handles and processes on a thread of the library.
  public func observe(_ handler: @escaping @Sendable (Change) -> Void) throws -> Observation {
    Observation(subscription: try database.observe(handler))
  }
}

// The C library is built without Swift concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Store {
    /// Returns a stream of every change after its commit; the observation ends with the iteration.
    public func changes() throws -> AsyncStream<Change> {
      let (stream, continuation) = AsyncStream.makeStream(
        of: Change.self, bufferingPolicy: .bufferingNewest(1024))
      let observation = try observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
      return stream
    }
  }
#endif
