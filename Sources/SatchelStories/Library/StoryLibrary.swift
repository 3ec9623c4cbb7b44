import SatchelCore
import SatchelStorage
import Synchronization

/// A library of the stories in one directory.
///
/// Every file of the directory whose name ends in `.json`, `.twee` or `.tw` is a story; hidden files and
/// files in subdirectories are not. A symbolic link is followed only to a file inside the directory. Of
/// several files with the same story id, the first by name is the story. The store keeps an index of the
/// files, so that unchanged files are not read again. Purchases are kept in the store, independent of the
/// files.
///
/// Safe to use from any number of threads and processes at the same time. After the store is closed, and
/// after `close()`, calls throw `.closed`.
public final class StoryLibrary: Sendable {
  /// The directory's real path.
  public let directory: String
  package let database: Database
  let index: StoryIndex
  let purchases: StoryPurchases
  let cache = Locked(StoryCache())
  let worker = Worker()
  let loads = Loads([:])
  /// Held while the directory is read, so that two threads do not do the same work.
  let refreshing = ConditionLock()
  let hasRefreshed = Atomic(false)
  let isClosed = Atomic(false)

  /// Opens a library.
  ///
  /// - Throws: `.notFound` when the directory does not exist, `.invalid` when the path is not a directory,
  ///   `.io`, `.closed`
  package init(database: Database, directory: String) throws {
    guard !directory.isEmpty, !directory.utf8.contains(0) else {
      throw SatchelError(.invalid, "directory: the path is empty, or contains a NUL")
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

  /// Closes the library: cancels a preload in progress and waits for it, and frees the cache. The preload's
  /// completion receives `.cancelled`.
  public func close() {
    isClosed.store(true, ordering: .relaxed)
    worker.stop()
    cache.withLock { $0.clear() }
  }

  func checkOpen() throws {
    if isClosed.load(ordering: .relaxed) { throw SatchelError(.closed, "the library of stories is closed") }
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }
}
