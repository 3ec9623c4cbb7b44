import SatchelJSON
import SatchelRemote
import SatchelSync

/// The result of a backup.
public struct PhotoBackupReport: Sendable, Equatable, JSONConvertible, TrafficReport {
  /// The maximum number of listed failures; the count includes all.
  public static let maxListed = 1000

  /// A file that could not be uploaded.
  public struct Failure: Sendable, Equatable {
    /// The photo; nil for a film or a sidecar.
    public var md5: MD5?
    /// The photo's name; of a film or a sidecar the path.
    public var filename: String
    public var message: String
  }

  /// Files that were sent.
  public var uploaded: Int64 = 0
  /// Files that the remote had already.
  public var found: Int64 = 0
  public var failed: [Failure] = []
  public var failedCount: Int64 = 0
  /// Photos that are still queued.
  public var queued: Int64 = 0
  /// Of these the ones whose files are on other devices: they are backed up there.
  public var elsewhere: Int64 = 0
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  /// Whether the caller ended the run.
  public var isCancelled = false

  package init() {}

  mutating func fail(_ md5: MD5?, named filename: String, _ message: String) {
    failedCount += 1
    if failed.count < Self.maxListed {
      failed.append(Failure(md5: md5, filename: filename, message: message))
    }
  }

  /// The report as a JSON object.
  public var json: JSONValue {
    let failed = failed.map { failure -> JSONValue in
      [
        "md5": failure.md5.map { .string($0.description) } ?? .null, "filename": .string(failure.filename),
        "message": .string(failure.message),
      ]
    }
    return [
      "uploaded": .int(uploaded), "found": .int(found), "failed": .array(failed),
      "failed_count": .int(failedCount), "queued": .int(queued),
      "elsewhere": .int(elsewhere), "requests": .int(requests),
      "bytes_up": .int(bytesUp), "bytes_down": .int(bytesDown), "cancelled": .bool(isCancelled),
    ]
  }
}

/// The result of restoring a photo's file.
public struct PhotoRestoreReport: Sendable, Equatable, JSONConvertible, TrafficReport {
  /// The size of the file.
  public var size: Int64 = 0
  /// Whether the file existed already.
  public var isUnchanged = false
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0

  package init() {}

  /// The report as a JSON object.
  public var json: JSONValue {
    [
      "size": .int(size), "unchanged": .bool(isUnchanged), "requests": .int(requests),
      "bytes_down": .int(bytesDown),
    ]
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension PhotoCatalogue {
    /// Runs a backup on a separate thread, like the blocking form; cancelling the task ends it.
    public func runBackup(
      with store: any ObjectStore, user: UserID, options: PhotoBackupOptions = PhotoBackupOptions(),
      progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> PhotoBackupReport {
      try await options.onOwnThread { options in
        try self.runBackup(with: store, user: user, options: options, progress: progress)
      }
    }
  }
#endif
