/// Does something with each item, a few at once, in their order. One at a time is done by the caller's thread alone.
package func inParallel<Item: Sendable>(
  _ items: [Item], limit: Int, _ body: @escaping @Sendable (Item) -> Void
) {
  withWorkers(items, limit: limit) { next in
    while let item = next() { body(item) }
  }
}

/// As `inParallel`, for work that needs something of its own on each thread.
///
/// - Parameter work: done on a few threads at once; takes items until there are none
package func withWorkers<Item: Sendable>(
  _ items: [Item], limit: Int, _ work: @escaping @Sendable (_ next: () -> Item?) -> Void
) {
  let waiting = Guarded(items[...])
  let share: @Sendable () -> Void = { work { waiting.withLock { $0.popFirst() } } }
  let count = min(max(limit, 1), 16, items.count)
  // The caller is one of them, so that all is done even when there is no thread to be had.
  let threads = (1..<max(count, 1)).compactMap { _ in SystemThread(share) }
  share()
  for thread in threads { thread.join() }
}
