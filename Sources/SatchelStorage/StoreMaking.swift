import CSQLite

/// Makes the file of a new store: all of it or nothing, also after a loss of power.
///
/// The store is made in memory, written beside its place, synced and renamed. SQLite alone would write page 1 in place,
/// and a power cut could leave a page of zeros there, which is nobody's file and is refused ever after.
struct StoreMaking {
  /// What is being written stands beside its place under this name. A process that was killed leaves it; the next one
  /// writes it again.
  static let partSuffix = ".new"

  let path: String
  let options: StoreOptions

  /// - Parameter image: the bytes of the store
  /// - Returns: false when another process made it first
  /// - Throws: `.busy` when another process keeps the directory locked for longer than the busy timeout; `.readOnly`,
  ///   `.full`, `.io`
  func make(_ image: () throws -> [UInt8]) throws -> Bool {
    // SQLite follows links, also one to a file that does not exist yet.
    let target = DatabaseFile.fullPath(of: path)
    let directory = try DiskFile(StoreFile.directory(of: target), O_RDONLY | O_DIRECTORY)
    return try withExtendedLifetime(directory.descriptor) {
      let isLocked = try lock(directory)
      // Whoever had the lock may have made it.
      let found = try StoreFile.examine(target)
      guard found == .absent || found == .empty else { return false }
      let bytes = try image()
      // SQLite would apply the WAL or journal of a store that is gone to the new one.
      if StoreFile.hasLeftovers(target) { _ = try StoreFile.setAside(target, time: options.clock.now()) }
      let part = target + Self.partSuffix
      do {
        try write(bytes, to: part)
        try place(part, at: target, replacing: isLocked || found == .empty)
      } catch {
        unlink(part)
        throw error
      }
      try DiskFile.syncDirectory(of: target, calls: options.fileCalls)
      return true
    }
  }

  private func write(_ bytes: [UInt8], to part: String) throws {
    // Closed before it has its name: closing it later would drop the locks that SQLite has on it by then.
    let file = try DiskFile(part, O_RDWR | O_CREAT | O_NOFOLLOW, calls: options.fileCalls)
    try file.truncate(to: 0)
    try file.write(bytes, at: 0)
    try file.sync()
  }

  /// - Parameter replacing: whether nobody else can have made a store there; else it is left alone
  private func place(_ part: String, at target: String, replacing: Bool) throws {
    guard (replacing ? rename(part, target) : link(part, target)) == 0 else {
      throw SatchelError(errno: errno, target)
    }
    if !replacing { unlink(part) }
  }

  /// Locks the directory against others who make stores in it.
  ///
  /// - Returns: false where the file system has no such locks
  private func lock(_ directory: borrowing DiskFile) throws -> Bool {
    let start = Clock.steadyMilliseconds
    while flock(directory.descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code != EWOULDBLOCK && code != EINTR { return false }
      guard Clock.steadyMilliseconds - start < Int64(options.busyTimeout) else {
        throw SatchelError(
          .busy, "\(path): its directory has been locked by another maker for \(options.busyTimeout) ms")
      }
      usleep(1000)
    }
    return true
  }
}

extension Connection {
  /// The bytes of a database in memory, as a file in WAL mode.
  func image() throws -> [UInt8] {
    var size: Int64 = 0
    guard let bytes = sqlite3_serialize(handle, "main", &size, 0) else {
      throw SatchelError(.noMemory, "\(path): no memory for \(size) bytes")
    }
    defer { sqlite3_free(bytes) }
    var image = Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
    // "File format write version" and "read version" of the header: 2 is WAL (SQLite file format, 1.3.3).
    image.replaceSubrange(18..<20, with: [2, 2])
    return image
  }
}
