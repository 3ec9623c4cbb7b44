import SatchelStorage

extension StoryLibrary {
  /// Refreshes in the background, then reads stories into memory, by file name, as long as there is room.
  ///
  /// - Parameter completion: hears exactly once, on a thread of the library's, what `loadAll()` would have
  ///   returned or thrown; `.cancelled` when the library was closed or given up before
  /// - Throws: `.closed`, `.noMemory` when there is no thread to be had
  public func preload(_ completion: (@Sendable (Result<StoryListing, any Error>) -> Void)? = nil) throws {
    try checkOpen()
    let promise = Promise(completion)
    try worker.add { [weak self] in
      guard let self else { return }
      promise.tell(
        Result {
          let listing = try self.loadAll()
          try self.fillCache(listing.stories)
          return listing
        })
    }
  }

  private func fillCache(_ stories: [StorySummary]) throws {
    for summary in stories {
      if isOver.load(ordering: .relaxed) { throw StoryIntake.cancelled }
      // With room for an eighth to spare: what is read next shall not push out what was read first.
      let isFull = cache.withLock { $0.bytes >= $0.budget - $0.budget / 8 }
      if isFull { return }
      // A file that changed meanwhile is for the next refresh.
      _ = try? story(summary.id)
    }
  }

  /// Sees to it that a completion hears something, whatever becomes of the work.
  // Unchecked: the state is behind a lock.
  private final class Promise: @unchecked Sendable {
    private let completion: Guarded<(@Sendable (Result<StoryListing, any Error>) -> Void)?>

    init(_ completion: (@Sendable (Result<StoryListing, any Error>) -> Void)?) {
      self.completion = Guarded(completion)
    }

    func tell(_ result: Result<StoryListing, any Error>) {
      let completion = self.completion.withLock { completion in
        defer { completion = nil }
        return completion
      }
      completion?(result)
    }

    deinit { tell(.failure(StoryIntake.cancelled)) }
  }
}
