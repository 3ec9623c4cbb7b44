import SatchelCore
import SatchelStorage

extension StoryLibrary {
  /// Refreshes in the background, then reads stories into the cache, by file name, until it is full.
  ///
  /// - Parameter completion: called exactly once, on a thread of the library, with the result of `loadAll()`;
  ///   with `.cancelled` when the library was closed or released before
  /// - Throws: `.closed`; `.noMemory` when no thread can be created
  public func preload(_ completion: (@Sendable (Result<StoryListing, any Error>) -> Void)? = nil) throws {
    try checkOpen()
    let promise = PreloadCompletion(completion)
    try worker.add { [weak self] in
      guard let self else { return }
      promise.complete(
        Result {
          let listing = try self.loadAll()
          try self.fillCache(listing.stories)
          return listing
        })
    }
  }

  private func fillCache(_ stories: [StorySummary]) throws {
    for summary in stories {
      if isClosed.load(ordering: .relaxed) { throw DirectoryRefresh.cancelled }
      // Leaves an eighth of the budget free, so that the last stories do not evict the first ones.
      let isFull = cache.withLock { $0.bytes >= $0.budget - $0.budget / 8 }
      if isFull { return }
      // The next refresh handles a file that changed meanwhile.
      _ = try? story(summary.id)
    }
  }

  /// Calls a completion exactly once, also when the work is dropped.
  // Unchecked: a lock guards the state.
  private final class PreloadCompletion: @unchecked Sendable {
    private let completion: Locked<(@Sendable (Result<StoryListing, any Error>) -> Void)?>

    init(_ completion: (@Sendable (Result<StoryListing, any Error>) -> Void)?) {
      self.completion = Locked(completion)
    }

    func complete(_ result: Result<StoryListing, any Error>) {
      let completion = self.completion.withLock { completion in
        defer { completion = nil }
        return completion
      }
      completion?(result)
    }

    deinit { complete(.failure(DirectoryRefresh.cancelled)) }
  }
}
