import CSQLite
import SatchelCore

/// Creates the file of a new store atomically, also with regard to a power loss.
///
/// The store is created in memory, written to a temporary file, synced and renamed. SQLite alone would write
/// page 1 in place, and a power loss could leave a page of zeros, which would be refused as foreign.
struct StoreCreation {
  /// The suffix of the temporary file. A killed process leaves it; the next one overwrites it. Not that of
  /// `AtomicFile`: the lock of the directory excludes other creators, but not a backup to the same path.
  static let partSuffix = ".new"

  let path: String
  let options: StoreOptions

  /// Creates the store.
  ///
  /// - Parameter image: returns the content of the store's file
  /// - Returns: false when another process created the store first
  /// - Throws: `.busy` when another process locks the directory for longer than the busy timeout;
  ///   `.readOnly`, `.full`, `.io`
  func make(_ image: () throws -> [UInt8]) throws -> Bool {
    // SQLite follows symbolic links, also those to a file that does not exist yet.
    let target = DatabaseFile.fullPath(of: path)
    let lock = try StoreDirectoryLock(of: target, timeout: options.busyTimeout)
    return try withExtendedLifetime(lock) {
      // The previous owner of the lock may have created it.
      let found = try StoreFile.examine(target)
      guard found == .absent || found == .empty else { return false }
      let bytes = try image()
      // SQLite would apply the leftover WAL or journal of a missing store to the new one.
      if StoreFile.hasWALOrJournal(target) { _ = try StoreFile.quarantine(target, time: options.clock.now()) }
      let part = target + Self.partSuffix
      do {
        try write(bytes, to: part)
      } catch {
        unlink(part)
        throw error
      }
      // Without the lock, another process can have created a store there, which is kept.
      try AtomicFile.move(
        part, to: target, replacing: lock.isHeld || found == .empty, calls: options.fileCalls)
      return true
    }
  }

  private func write(_ bytes: [UInt8], to part: String) throws {
    // Closed before it gets its name: see `AtomicFile.move`.
    let file = try DiskFile(part, O_RDWR | O_CREAT | O_NOFOLLOW, calls: options.fileCalls)
    try file.truncate(to: 0)
    try file.write(bytes, at: 0)
    try file.sync()
  }
}

extension Connection {
  /// Returns the content of a database in memory, as a file in WAL mode.
  func image() throws -> [UInt8] {
    var size: Int64 = 0
    guard let bytes = sqlite3_serialize(handle, "main", &size, 0) else {
      throw SatchelError(.noMemory, "\(path): cannot allocate \(size) bytes")
    }
    defer { sqlite3_free(bytes) }
    var image = Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
    // "File format write version" and "read version" of the header: 2 is WAL (SQLite file format, 1.3.3).
    image.replaceSubrange(18..<20, with: [2, 2])
    return image
  }
}

/// Excludes other threads and processes that create or restore a store in a directory, until it is released.
///
/// Each looks whether there is a store before it renames a file to its path; without the lock it could replace a
/// store that somebody has made and opened meanwhile.
final class StoreDirectoryLock {
  private let directory: DiskFile
  /// False where the file system has no such locks.
  let isHeld: Bool

  /// - Parameters:
  ///   - path: of the store, without symbolic links
  ///   - timeout: in milliseconds
  /// - Throws: `.busy` when another one holds the lock for longer
  init(of path: String, timeout: Int32) throws {
    directory = try DiskFile(DiskFile.directory(of: path), O_RDONLY | O_DIRECTORY)
    isHeld = try Self.lock(directory, path, timeout: timeout)
  }

  private static func lock(_ directory: borrowing DiskFile, _ path: String, timeout: Int32) throws -> Bool {
    let start = Clock.monotonic.now()
    while flock(directory.descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code != EWOULDBLOCK && code != EINTR { return false }
      guard Clock.monotonic.now() - start < Int64(timeout) else {
        throw SatchelError(.busy, "\(path): another process has locked its directory for \(timeout) ms")
      }
      usleep(1000)
    }
    return true
  }
}
