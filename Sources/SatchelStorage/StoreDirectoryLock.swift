import SatchelCore

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
    isHeld = try Self.lock(directory, path, timeout)
  }

  private static func lock(_ directory: borrowing DiskFile, _ path: String, _ timeout: Int32) throws -> Bool {
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
