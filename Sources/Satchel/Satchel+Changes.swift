// The library for C is built without: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Satchel {
    /// Every change after its commit, for as long as someone iterates.
    public func changes() throws -> AsyncStream<Change> {
      let (stream, continuation) = AsyncStream.makeStream(
        of: Change.self, bufferingPolicy: .bufferingNewest(1024))
      let observation = try observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
      return stream
    }
  }
#endif
