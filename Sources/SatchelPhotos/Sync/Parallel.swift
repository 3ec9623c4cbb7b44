import SatchelStorage

/// Does something with each item, a few at once, in their order. One at a time is done by the caller's thread alone.
func inParallel<Item: Sendable>(
  _ items: [Item], limit: Int, _ body: @escaping @Sendable (Item) -> Void
) throws {
  let waiting = Guarded(items[...])
  let work: @Sendable () -> Void = {
    while let item = waiting.withLock({ $0.popFirst() }) { body(item) }
  }
  let count = min(max(limit, 1), 16, items.count)
  // The caller is one of them, so that all is done even when there is no thread to be had.
  let threads = (1..<max(count, 1)).compactMap { _ in SystemThread(work) }
  work()
  for thread in threads { thread.join() }
}
