import SatchelCore
import SatchelState
import SatchelStorage
import Synchronization

/// A library of the stories in one directory.
///
/// Every file of the directory, and of the folders below it, whose name has the extension of a format is a story:
/// `.json`, and for the libraries of a `Store` also `.twee` and `.tw`. Hidden files and folders are not read, nor
/// `node_modules`. A symbolic link is followed only to a file inside the directory. Of several files with the same
/// story id in the same `language`, the first by name is the story. The store keeps an index of the files, so that
/// unchanged files are not read again.
///
/// The reader's progress and purchases are synchronized state of the store, by the library's name and the id of the
/// story, independent of the files. Two libraries of one store with the same name share them.
///
/// Safe to use from any number of threads and processes at the same time. After the store is closed, and
/// after `close()`, calls throw `.closed`.
public final class StoryLibrary: Sendable {
  /// The directory's real path.
  public let directory: String
  /// The name under which the reader's progress and purchases are kept.
  public let name: String
  package let database: Database
  let sources: [StorySource]
  let index: StoryIndex
  let readerState: ReservedState
  let latestProgress = Locked<
    (version: ReservedState.Version, story: StoryName, progress: StoredProgress)?
  >(nil)
  let latestPurchases = Locked<(version: ReservedState.Version, values: ReservedState.Values)?>(nil)
  /// The versions whose outlines are known to be stored, by story.
  let outlines = Locked<[StoryName: String]>([:])
  let cache = Locked(StoryCache())
  let worker = Worker()
  let loads = Loads([:])
  /// Held while the directory is read, so that two threads do not do the same work.
  let refreshing = ConditionLock()
  let hasRefreshed = Atomic(false)
  let isClosed = Atomic(false)

  /// Opens a library.
  ///
  /// - Parameters:
  ///   - name: nil for the last component of the directory's real path
  ///   - sources: the formats of its stories
  /// - Throws: `.notFound` when the directory does not exist, `.invalid` when the path is not a directory, and for an
  ///   invalid name; `.io`, `.closed`
  package init(
    database: Database, state: StateStore, directory: String, name: String?, sources: [StorySource]
  ) throws {
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
    _ = try StoryDirectory(path, sources: sources)
    self.sources = sources
    self.directory = path
    self.name = try Self.name(name, of: path)
    self.database = database
    index = try StoryIndex(database, directory: path)
    readerState = ReservedState(state, collection: self.name)
  }

  deinit { close() }

  /// Closes the library: cancels a preload in progress and waits for it, and frees the cache. The preload's
  /// completion receives `.cancelled`.
  public func close() {
    isClosed.store(true, ordering: .relaxed)
    worker.stop()
    cache.withLock { $0.clear() }
  }

  /// Returns the name of a library in NFC, because some file systems change the form of names.
  private static func name(_ given: String?, of path: String) throws -> String {
    let text = given ?? path.split(separator: "/").last.map { String($0) } ?? ""
    let name = NormalForm.composed(text)
    let max = ReservedState.maxCollectionBytes
    let isName = name.unicodeScalars.allSatisfy {
      $0 != "/" && $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
    }
    guard isName, (1...max).contains(name.utf8.count) else {
      let advice = given == nil ? "\(path): its last component cannot name the library; give it a name: " : ""
      throw SatchelError(
        .invalid,
        """
        \(advice)name: “\(name.prefix(60))” has \(name.utf8.count) bytes; it must have 1 to \(max), without \
        slashes and control characters
        """
      ).at(subject: Change.Subject.stories.rawValue, limit: max)
    }
    return name
  }

  func openDirectory() throws -> StoryDirectory { try StoryDirectory(directory, sources: sources) }

  func checkOpen() throws {
    if isClosed.load(ordering: .relaxed) { throw SatchelError(.closed, "the library of stories is closed") }
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }
}
