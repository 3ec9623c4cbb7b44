import SatchelCore
import SatchelJSON
import SatchelStorage

/// The preloads of a library that are in progress.
public struct StoryLoading: Equatable, Sendable, JSONConvertible {
  /// Whether a preload of the whole library is under way.
  public var all = false
  /// The stories that were preloaded by their ids and are not in memory yet, sorted.
  public var stories: [String] = []

  /// A JSON object with all and stories.
  public var json: JSONValue {
    ["all": .bool(all), "stories": .array(stories.map { .string($0) })]
  }
}

extension StoryLibrary {
  /// Refreshes in the background, then reads stories into the cache, by file name, until it is full.
  ///
  /// - Parameter completion: called exactly once, on a thread of the library, with the result of `loadAll()`;
  ///   with `.cancelled` when the library was closed or released before
  /// - Throws: `.closed`; `.noMemory` when no thread can be created
  public func preload(_ completion: (@Sendable (Result<StoryListing, any Error>) -> Void)? = nil) throws {
    try checkOpen()
    let promise = Preload<StoryListing>(of: nil, in: loads, completion)
    try worker.add { [weak self] in
      guard let self else { return }
      do {
        let listing = try self.loadAll()
        self.fillCache(with: listing.stories.map(\.id)[...], of: listing, promise)
      } catch {
        promise.complete(.failure(error))
      }
    }
  }

  /// Reads a story into the cache in the background; before the rest of a preload of the whole library.
  ///
  /// - Parameter completion: called exactly once, on a thread of the library, with the result of `story(_:)`;
  ///   with `.cancelled` when the library was closed or released before
  /// - Throws: `.invalid` for an invalid id, `.closed`; `.noMemory` when no thread can be created
  public func preload(
    story id: String, _ completion: (@Sendable (Result<Story, any Error>) -> Void)? = nil
  ) throws {
    try checkOpen()
    try Self.checkName(id)
    let promise = Preload<Story>(of: id, in: loads, completion)
    try worker.add { [weak self] in
      guard let self else { return }
      promise.complete(Result { try self.story(id) })
    }
  }

  /// The loads in progress, and the callers that wait for them.
  ///
  /// - Throws: `.closed`
  public func loading() throws -> StoryLoading {
    try checkOpen()
    return loads.withLock { loads in
      let stories = loads.keys.compactMap { $0?.text }.ordered(by: StoryName.precedes)
      return StoryLoading(all: loads[nil as StoryName?] != nil, stories: stories)
    }
  }

  /// Reads the first story, and enqueues the others after what was enqueued meanwhile.
  private func fillCache(
    with stories: ArraySlice<String>, of listing: StoryListing, _ promise: Preload<StoryListing>
  ) {
    if isClosed.load(ordering: .relaxed) { return }
    // Leaves an eighth of the budget free, so that the last stories do not evict the first ones.
    let isFull = cache.withLock { $0.bytes >= $0.budget - $0.budget / 8 }
    guard !isFull, let id = stories.first else { return promise.complete(.success(listing)) }
    // The next refresh handles a file that changed meanwhile.
    _ = try? story(id)
    let added: Void? = try? worker.add { [weak self] in
      self?.fillCache(with: stories.dropFirst(), of: listing, promise)
    }
    if added == nil { promise.complete(.success(listing)) }
  }

  /// The loads under way: how many of each story; nil for the whole library.
  typealias Loads = Locked<[StoryName?: Int]>

  /// A load that is under way until it completes, also when the work is dropped.
  // Unchecked: a lock guards the state.
  private final class Preload<Value: Sendable>: @unchecked Sendable {
    private let story: StoryName?
    private let loads: Loads
    private let isComplete = Locked(false)
    private let completion: (@Sendable (Result<Value, any Error>) -> Void)?

    init(of story: String?, in loads: Loads, _ completion: (@Sendable (Result<Value, any Error>) -> Void)?) {
      self.story = story.map { StoryName($0) }
      self.loads = loads
      self.completion = completion
      loads.withLock { $0[self.story, default: 0] += 1 }
    }

    func complete(_ result: Result<Value, any Error>) {
      let wasComplete = isComplete.withLock { isComplete in
        defer { isComplete = true }
        return isComplete
      }
      if wasComplete { return }
      loads.withLock { loads in
        let count = loads[story, default: 1] - 1
        loads[story] = count > 0 ? count : nil
      }
      completion?(result)
    }

    deinit { complete(.failure(DirectoryRefresh.cancelled)) }
  }
}
