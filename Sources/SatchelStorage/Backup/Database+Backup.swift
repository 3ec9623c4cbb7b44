import CSQLite
import SatchelCore
import SatchelJSON

extension Database {
  /// Copies the store to a new file while it is in use: a consistent snapshot of the time when the copy
  /// begins. Others may write meanwhile; their commits are not checkpointed until the backup has ended.
  ///
  /// The backup is written to a temporary file, checked, synced and renamed: `target` is either complete or
  /// unchanged. An earlier backup there is replaced; no other file is.
  ///
  /// - Parameters:
  ///   - progress: called with the numbers of copied and of all pages, on the calling thread; returning false cancels
  ///   - beside: copies what belongs to the snapshot and is not in the file, before the copy gets its name
  /// - Throws: `.cancelled`; `.damaged` when the store itself is; `.invalid` for an invalid path, the store's
  ///   own or a directory's, and inside a write; `.foreign` for another program's file; `.busy` for a store
  ///   that is in use, or another backup to the same path; `.notFound`, `.readOnly`, `.full`, `.io`
  @discardableResult
  package func backup(
    to target: String, progress: BackupProgress = { _, _ in true },
    beside: (Connection) throws -> Void = { _ in }
  ) throws -> BackupReport {
    guard !isInTransaction else {
      throw SatchelError(
        .invalid,
        "\(target): a backup inside a write would contain uncommitted changes; end the transaction first")
    }
    let start = Clock.monotonic.now()
    return try withoutActuallyEscaping(progress) { progress in
      try read { connection in
        try refuse(asBackup: target)
        // A read transaction begins with its first read.
        _ = try connection.number("SELECT count(*) FROM sqlite_schema")
        let subject = HostWork.Resource(ObjectIdentifier(self))
        let copy = StoreCopy(target: target, vfsName: options.vfsName, calls: options.fileCalls) {
          copied, total in
          HostWork.calling("a progress callback", for: subject) { progress(copied, total) }
        }
        let mode = isMemory ? 0o644 : DatabaseFileNames(path).permissions
        let (pages, bytes) = try copy.make(from: connection, mode: mode) {
          try refuse(asBackup: target)
          try beside(connection)
        }
        return BackupReport(
          path: target, pages: pages, bytes: bytes, milliseconds: Clock.monotonic.now() - start)
      }
    }
  }

  /// Throws unless `target` does not exist, or is an earlier backup.
  private func refuse(asBackup target: String) throws {
    guard !target.isEmpty, !target.utf8.contains(0) else {
      throw SatchelError(.invalid, "target: is empty or contains a NUL")
    }
    guard !target.utf8.elementsEqual(":memory:".utf8) else {
      throw SatchelError(.invalid, "target: a backup needs a file, not :memory:")
    }
    let own = DatabaseFileNames(path)
    for path in isMemory ? [] : own.all + [own.outbox] {
      guard !StoreFile.isSame(target, path) else {
        throw SatchelError(.invalid, "\(target): is the store itself, or one of its files")
      }
    }
    switch try StoreFile.examine(target) {
    case .absent, .empty: break
    // A backup, whatever its state.
    case .store, .damaged:
      guard !StoreFile.hasWAL(target) else {
        throw SatchelError(.busy, "\(target): a store with a WAL, which is in use; choose another target")
      }
    case .foreign(let reason): throw SatchelError(.foreign, "\(target): \(reason); it is not overwritten")
    }
  }
}

extension StoreFile {
  /// Whether two paths name the same file, or would.
  static func isSame(_ one: String, _ other: String) -> Bool {
    if one == other { return true }
    let (first, second) = (identity(one), identity(other))
    return first != nil && first == second
  }

  /// Returns the file's device and inode; for a missing file those of its directory, with its name.
  private static func identity(_ path: String) -> [String]? {
    var status = stat()
    if stat(path, &status) == 0 { return ["\(status.st_dev)", "\(status.st_ino)"] }
    guard stat(DiskFile.directory(of: path), &status) == 0 else { return nil }
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    return ["\(status.st_dev)", "\(status.st_ino)", String(name)]
  }
}

extension Connection {
  /// Opens a backup, which is not written to, for reading.
  package static func reading(backup path: String) throws -> Connection {
    try Connection(path: path, flags: SQLITE_OPEN_READONLY, busyTimeout: 0, isImmutable: true)
  }
}

/// The outcome of a backup.
public struct BackupReport: Equatable, Sendable, JSONConvertible {
  /// The path of the backup.
  public var path: String
  /// The number of copied pages.
  public var pages: Int
  /// Its size in bytes.
  public var bytes: Int64
  /// The duration.
  public var milliseconds: Int64
  /// The number of files of assets beside the backup.
  public var assets = 0
  /// The number of assets whose files the store should have, and has not.
  public var missingAssets = 0
  /// The paths of older backups that were deleted after this one was made.
  public var removed: [String] = []

  public var json: JSONValue {
    [
      "path": .string(path), "pages": .int(Int64(pages)), "bytes": .int(bytes),
      "milliseconds": .int(milliseconds), "assets": .int(Int64(assets)),
      "missing_assets": .int(Int64(missingAssets)), "removed": .array(removed.map { .string($0) }),
    ]
  }
}

/// Receives the progress of a copy, in pages; returns false to cancel it.
public typealias BackupProgress = (_ done: Int, _ total: Int) -> Bool
