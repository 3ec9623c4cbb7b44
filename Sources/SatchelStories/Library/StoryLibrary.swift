import SatchelStorage
import Synchronization

/// The stories of one directory: found, read when they are wanted, and searched.
///
/// Every file of the directory whose name ends in `.json`, `.twee` or `.tw` is a story; those in directories
/// below it, and hidden ones, are not. A link counts only when it leads to a file inside the directory. Of two
/// files with one story id, the first by name is the story. What is in the files is kept in the store as an
/// index, so that files which did not change are not read again. What readers bought is the store's, whatever
/// becomes of the files.
///
/// Safe to use from any number of threads, and beside other processes. After the store is closed, and after
/// `close()`, calls throw `.closed`.
public final class StoryLibrary: Sendable {
  /// The directory's real path.
  public let directory: String
  package let database: Database
  let index: StoryIndex
  let purchases: StoryPurchases
  let words = Guarded<SearchWords?>(nil)
  let cache = Guarded(StoryCache())
  let worker = Worker()
  /// Held by whoever looks at the directory, so that no two do the same work.
  let refreshing = Monitor()
  let hasRefreshed = Atomic(false)
  let isOver = Atomic(false)

  /// - Throws: `.notFound` when there is no such directory, `.invalid` when it is none, `.io`, `.closed`
  package init(database: Database, directory: String) throws {
    guard !directory.isEmpty, !directory.utf8.contains(0) else {
      throw SatchelError(.invalid, "directory: empty, or holds a NUL")
    }
    guard let resolved = realpath(directory, nil) else {
      throw SatchelError(errno: errno, directory, denied: .io)
    }
    defer { free(resolved) }
    guard let path = String(validatingCString: resolved) else {
      throw SatchelError(.invalid, "\(directory): its real path is not UTF-8")
    }
    _ = try StoryDirectory(path)
    self.directory = path
    self.database = database
    index = try StoryIndex(database, directory: path)
    purchases = StoryPurchases(database)
  }

  deinit { close() }

  /// Gives up a preload under way, and waits for it; its completion hears `.cancelled`. Memory is given back.
  public func close() {
    isOver.store(true, ordering: .relaxed)
    worker.stop()
    cache.withLock { $0.clear() }
  }

  func checkOpen() throws {
    if isOver.load(ordering: .relaxed) { throw SatchelError(.closed, "the library of stories is closed") }
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }
}
