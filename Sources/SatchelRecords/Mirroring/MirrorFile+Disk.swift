import SatchelJSON
import SatchelStorage

extension MirrorFile {
  /// Reads the mirror of a collection; nil when there is no such file.
  ///
  /// - Throws: `SatchelError` `.invalid` naming line, column and pointer for a file that is none or damaged, `.io`,
  ///   `.noMemory`.
  public static func read(_ path: String, collection: String) throws -> MirrorFile? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let code = errno
      if code == ENOENT { return nil }
      throw SatchelError(errno: code, path, denied: .io)
    }
    defer { close(descriptor) }
    do {
      return try MirrorFile(parsing: bytes(descriptor, path), collection: collection)
    } catch let error as JSONError {
      throw SatchelError(error, in: path)
    }
  }

  /// Writes the mirror in place of the file that is there: aside, synced and renamed, so that whoever reads sees
  /// the one or the other, also after a power cut. Writers of several processes wait for each other.
  ///
  /// - Parameter path: a file in a directory that exists; what is written aside is `path` with ".part"
  /// - Throws: as `serialized()`; `SatchelError` `.full`, `.readOnly`, `.io` and others: the file is as it was.
  public func write(to path: String) throws {
    let text = try serialized()
    let part = path + ".part"
    let descriptor = try MirrorFile.lockedPart(part)
    defer { close(descriptor) }
    do {
      try MirrorFile.write(text, to: descriptor, part)
      var status = stat()
      // Who may read it was somebody's decision.
      if stat(path, &status) == 0 { _ = fchmod(descriptor, status.st_mode & 0o777) }
      guard fsync(descriptor) == 0 else { throw SatchelError(errno: errno, part) }
      guard rename(part, path) == 0 else { throw SatchelError(errno: errno, path) }
    } catch {
      unlink(part)
      throw error
    }
    try MirrorFile.syncDirectory(of: path)
  }

  /// Opens the file that is written aside, when no other writer has it. One that a killed writer left is used again.
  private static func lockedPart(_ part: String) throws -> Int32 {
    while true {
      let descriptor = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
      guard descriptor >= 0 else { throw SatchelError(errno: errno, part) }
      while flock(descriptor, LOCK_EX) != 0 {
        let code = errno
        if code == EINTR { continue }
        close(descriptor)
        throw SatchelError(errno: code, part)
      }
      var (locked, named) = (stat(), stat())
      if fstat(descriptor, &locked) == 0, stat(part, &named) == 0, locked.st_ino == named.st_ino,
        locked.st_dev == named.st_dev
      {
        return descriptor
      }
      // While we waited, it became the mirror.
      close(descriptor)
    }
  }

  private static func write(_ text: [UInt8], to descriptor: Int32, _ name: String) throws {
    guard ftruncate(descriptor, 0) == 0 else { throw SatchelError(errno: errno, name) }
    try text.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(done))
        let code = errno
        if count < 0, code == EINTR { continue }
        guard count > 0 else { throw SatchelError(errno: count < 0 ? code : EIO, name) }
        done += count
      }
    }
  }

  /// Makes the new name survive a power cut.
  private static func syncDirectory(of path: String) throws {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SatchelError(errno: errno, directory) }
    defer { close(descriptor) }
    // Some file systems cannot, and need not.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw SatchelError(errno: errno, directory) }
  }

  private static func bytes(_ descriptor: Int32, _ path: String) throws -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SatchelError(errno: errno, path, denied: .io) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SatchelError(.invalid, "\(path): not a regular file")
    }
    let size = Int(clamping: status.st_size)
    guard size <= JSONTape.maximumSize else {
      throw SatchelError(.invalid, "\(path): a mirror has at most 4 GiB")
    }
    return try [UInt8](unsafeUninitializedCapacity: size) { room, count in
      while count < size {
        let got = pread(descriptor, room.baseAddress.map { $0 + count }, size - count, off_t(count))
        let code = errno
        if got < 0, code == EINTR { continue }
        guard got >= 0 else { throw SatchelError(errno: code, path, denied: .io) }
        if got == 0 { break }
        count += got
      }
    }
  }
}
