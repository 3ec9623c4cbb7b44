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

extension PhotoRestoreAllReport {
  mutating func fail(_ path: String, _ message: String) {
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
