import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage
import SatchelSync

/// Options of restoring all files.
public struct PhotoRestoreOptions: Sendable {
  /// The directory to write to; nil for the catalogue's. It is created, if its parent exists.
  public var target: String?
  /// Whether photos that have a file on this device are left out.
  public var onlyMissing = true
  /// Whether the files get their folders; else they are all written to one.
  public var withFolders = true
  public var backup = PhotoBackupOptions()

  public init() {}
}

/// The result of restoring all files. The list has at most `maxListed` elements, its count includes all.
public struct PhotoRestoreAllReport: Sendable, Equatable, JSONConvertible, TrafficReport {
  public static let maxListed = 1000

  /// A file that could not be written.
  public struct Failure: Sendable, Equatable {
    public var path: String
    public var message: String
  }

  /// Files that were written.
  public var restored: Int64 = 0
  /// Files that were there already, with the same bytes.
  public var unchanged: Int64 = 0
  /// Files that got another name, because one with other bytes had theirs.
  public var renamed: Int64 = 0
  public var failed: [Failure] = []
  public var failedCount: Int64 = 0
  /// Files that an index names, and that the remote does not have: they were never backed up.
  public var absent: Int64 = 0
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  /// Whether the caller ended the work; the next call continues it.
  public var isCancelled = false

  package init() {}

  /// The report as a JSON object.
  public var json: JSONValue {
    let failed = failed.map { failure -> JSONValue in
      ["path": .string(failure.path), "message": .string(failure.message)]
    }
    return [
      "restored": .int(restored), "unchanged": .int(unchanged), "renamed": .int(renamed),
      "failed": .array(failed), "failed_count": .int(failedCount), "absent": .int(absent),
      "requests": .int(requests), "bytes_down": .int(bytesDown), "cancelled": .bool(isCancelled),
    ]
  }
}

extension PhotoCatalogue {
  /// Downloads all files of a user that are not here: photos, films and sidecars, with the folders, names and times
  /// that the indexes of all devices give them. Blocks.
  ///
  /// A file that no index names gets the name of its row, else its MD5. Where a file with other bytes has a path,
  /// the file gets a number behind its name; no existing file is replaced. Every file is verified by its MD5. After a
  /// call that was cancelled or killed, the next one continues with the rest. The next scan finds the files.
  ///
  /// - Parameter progress: called with the progress, never concurrently; false ends the work: the report has
  ///   `isCancelled`
  /// - Throws: `SatchelError`: `notFound` when the target's parent does not exist, `foreign` when the catalogue is
  ///   synchronized as another user, `invalid` in a batch, `unauthorized`, `unavailable`, `full`, `io`
  public func restoreAll(
    from store: any ObjectStore, user: UserID, options: PhotoRestoreOptions = PhotoRestoreOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> PhotoRestoreAllReport {
    try checkOpen()
    let session = try SyncSession(
      database, with: store, user: user, options: options.backup, progress: progress)
    return try withBackups(session) { remote in
      try BackupRestoration(self, session: session, remote: remote, options: options).run()
    }
  }
}

/// A running restoration.
private final class BackupRestoration: Sendable {
  /// A file to restore.
  private struct Item: Sendable {
    var path: String
    var md5: MD5
    /// Unix seconds.
    var modified: Int64?
  }

  private struct State {
    var report = PhotoRestoreAllReport()
    /// The error that ended the work.
    var failure: (any Error)?
    /// The paths that this call has given to files.
    var taken: [String: MD5] = [:]
  }

  private let catalogue: PhotoCatalogue
  private let session: SyncSession
  private let remote: BackupRemote
  private let options: PhotoRestoreOptions
  private let target: String
  private let state = Locked(State())

  init(
    _ catalogue: PhotoCatalogue, session: SyncSession, remote: BackupRemote, options: PhotoRestoreOptions
  ) throws {
    self.catalogue = catalogue
    self.session = session
    self.remote = remote
    self.options = options
    target = try options.target.map { try DirectoryPath.normalized($0) } ?? catalogue.directory
  }

  func run() throws -> PhotoRestoreAllReport {
    try makeDirectory(target)
    let items = try items()
    try session.report { $0.begin(.files, of: items.count) }
    inParallel(items, limit: session.parallel) { [self] item in
      guard state.withLock({ $0.failure }) == nil, !session.cancellation.isCancelled() else { return }
      do {
        try restore(item)
      } catch {
        record(error, of: item)
      }
      try? session.report { $0.done += 1 }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    var report = state.withLock { $0.report }
    report.isCancelled = session.cancellation.isCancelled()
    report.add(session.traffic)
    return report
  }

  // MARK: What to restore

  private func items() throws -> [Item] {
    let objects = try remote.objects()
    let indexed = try remote.index(of: session.user)
    var (items, named) = ([Item](), Set<MD5>())
    var seen: Set<String> = []
    for row in indexed {
      guard BackupIndex.isSafe(row.path) else {
        state.withLock { $0.report.fail(row.path, "not a path below the directory") }
        continue
      }
      guard objects[row.md5] != nil else {
        state.withLock { $0.report.absent += 1 }
        continue
      }
      named.insert(row.md5)
      // Several devices with the same file.
      guard seen.insert("\(row.md5)\(row.path)").inserted else { continue }
      items.append(Item(path: path(row.path), md5: row.md5, modified: row.modified))
    }
    for md5 in objects.keys.ordered() where !named.contains(md5) {
      let photo = try catalogue.photo(md5)?.photo
      let name = photo?.filename ?? ""
      let isName = BackupIndex.isSafe(name) && !name.utf8.contains(UInt8(ascii: "/"))
      items.append(Item(path: isName ? name : "\(md5)", md5: md5, modified: photo?.modified))
    }
    let here = options.onlyMissing ? try presentFiles() : []
    return items.filter { item in
      guard here.contains(item.md5) else { return true }
      state.withLock { $0.report.unchanged += 1 }
      return false
    }
  }

  private func path(_ path: String) -> String {
    options.withFolders
      ? path : String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
  }

  /// The photos that have a file on this device, as the last scan says, and as the file's size still does.
  private func presentFiles() throws -> Set<MD5> {
    let directory = catalogue.directory
    return try catalogue.read(otherwise: []) { connection, id in
      var present: Set<MD5> = []
      for file in try FileTable(connection: connection, catalogue: id).all() where !file.isMissing {
        var status = stat()
        guard let md5 = file.md5,
          lstat("\(directory)/\(String(decoding: file.path, as: UTF8.self))", &status) == 0,
          Int64(status.st_size) == file.size
        else { continue }
        present.insert(md5)
      }
      return present
    }
  }

  // MARK: Restoring

  private func restore(_ item: Item) throws {
    for number in 1...1000 {
      let path = number == 1 ? item.path : Self.numbered(item.path, number)
      let isFree = state.withLock { state in
        let owner = state.taken[path]
        if owner == nil { state.taken[path] = item.md5 }
        return owner == nil || owner == item.md5
      }
      guard isFree else { continue }
      let full = target + "/" + path
      try makeFolders(of: path)
      do {
        let isUnchanged =
          try catalogue.download(item.md5, to: full, modified: item.modified, from: remote) == nil
        state.withLock { state in
          if isUnchanged { state.report.unchanged += 1 } else { state.report.restored += 1 }
          if number > 1, !isUnchanged { state.report.renamed += 1 }
        }
        return
      } catch let error as SatchelError where error.code == .constraint {
        // Another file has this path.
        continue
      }
    }
    throw SatchelError(.constraint, "\(item.path): too many files have this name")
  }

  private static func numbered(_ path: String, _ number: Int) -> String {
    let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let dot = path[start...].lastIndex(of: ".").flatMap { $0 > start ? $0 : nil } ?? path.endIndex
    return "\(path[..<dot]) (\(number))\(path[dot...])"
  }

  private func makeFolders(of path: String) throws {
    var folder = target
    for name in path.split(separator: "/").dropLast() {
      folder += "/" + name
      try makeDirectory(folder)
      var status = stat()
      guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw SatchelError(.invalid, "\(folder): is not a directory")
      }
    }
  }

  private func makeDirectory(_ path: String) throws {
    if mkdir(path, 0o777) != 0, errno != EEXIST { throw SatchelError(errno: errno, path) }
  }

  private func record(_ error: any Error, of item: Item) {
    if case .cancelled = (error as? ObjectStoreError)?.reason { return }
    state.withLock { state in
      if BackupFault.concernsOne(error) {
        state.report.fail(item.path, SatchelError(converting: error).message)
      } else {
        state.failure = state.failure ?? SatchelError(converting: error)
      }
    }
  }
}

extension PhotoRestoreAllReport {
  fileprivate mutating func fail(_ path: String, _ message: String) {
    failedCount += 1
    if failed.count < Self.maxListed { failed.append(Failure(path: path, message: message)) }
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension PhotoCatalogue {
    /// Restores on a separate thread, like the blocking form; cancelling the task ends it.
    public func restoreAll(
      from store: any ObjectStore, user: UserID, options: PhotoRestoreOptions = PhotoRestoreOptions(),
      progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> PhotoRestoreAllReport {
      try await options.backup.onOwnThread { backup in
        var options = options
        options.backup = backup
        return try self.restoreAll(from: store, user: user, options: options, progress: progress)
      }
    }
  }
#endif
