/// An open file or directory, closed when the value is destroyed.
package struct DiskFile: ~Copyable {
  package let descriptor: Int32
  package let path: String
  private let calls: FileCalls

  /// Opens a file or directory.
  ///
  /// - Parameters:
  ///   - flags: for `open`; O_CLOEXEC is added
  ///   - mode: permissions of a new file, before the process's umask
  package init(_ path: String, _ flags: Int32, mode: mode_t = 0o644, calls: FileCalls = .system) throws {
    let opened = open(path, flags | O_CLOEXEC, mode)
    guard opened >= 0 else { throw SatchelError(errno: errno, path) }
    descriptor = opened
    self.path = path
    self.calls = calls
  }

  /// Opens a file or directory in an open directory. Symbolic links are not followed, and a named pipe does not block.
  ///
  /// - Parameter name: one component
  package init(
    _ name: String, in directory: borrowing DiskFile, _ flags: Int32, mode: mode_t = 0o644
  ) throws {
    let path = directory.path + "/" + name
    let opened = openat(
      directory.descriptor, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode)
    guard opened >= 0 else { throw SatchelError(errno: errno, path) }
    descriptor = opened
    self.path = path
    calls = directory.calls
  }

  deinit { close(descriptor) }

  package func status() throws -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SatchelError(errno: errno, path) }
    return status
  }

  /// Whether `path` still names the open file.
  package var isAtPath: Bool {
    get throws {
      let own = try status()
      var there = stat()
      return stat(path, &there) == 0 && there.st_ino == own.st_ino && there.st_dev == own.st_dev
    }
  }

  /// Returns all bytes from `offset` to the end of the file, or the first `count` of them.
  package func read(_ count: Int = .max, at offset: Int64 = 0) throws -> [UInt8] {
    let size = min(max(0, Int64(try status().st_size) - offset), Int64(count))
    return try [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, done in
      done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// Reads bytes from `offset` on into the buffer.
  ///
  /// - Returns: the number of bytes read; less than the buffer's size at the end of the file
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
    var done = 0
    while done < buffer.count {
      let got = pread(
        descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw SatchelError(errno: errno, path) }
      if got == 0 { break }
      done += got
    }
    return done
  }

  package func write(_ bytes: [UInt8], at offset: Int64) throws {
    try bytes.withUnsafeBytes { try write($0, at: offset) }
  }

  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
    var done = 0
    while done < bytes.count {
      let count = calls.write(
        descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]), offset + Int64(done))
      if count < 0, errno == EINTR { continue }
      // Zero bytes written without an error means that the disk is full.
      guard count != 0 else { throw SatchelError(errno: ENOSPC, path) }
      guard count > 0 else { throw SatchelError(errno: errno, path) }
      done += min(count, bytes.count - done)
    }
  }

  package func truncate(to size: Int64) throws {
    while calls.truncate(descriptor, size) != 0 {
      guard errno == EINTR else { throw SatchelError(errno: errno, path) }
    }
  }

  /// Syncs the file's content to the disk, so that it survives a power loss.
  package func sync() throws {
    while calls.sync(descriptor) != 0 {
      guard errno == EINTR else { throw SatchelError(errno: errno, path) }
    }
  }

  /// Syncs the directory that holds `path`, so that names in it survive a power loss.
  package static func syncDirectory(of path: String, calls: FileCalls = .system) throws {
    try DiskFile(directory(of: path), O_RDONLY | O_DIRECTORY, calls: calls).syncNames()
  }

  /// Syncs the names in a directory, so that they survive a power loss.
  package func syncNames() throws {
    while calls.sync(descriptor) != 0, !Self.cannotSyncDirectories(errno) {
      guard errno == EINTR else { throw SatchelError(errno: errno, path) }
    }
  }

  /// Returns the names in a directory without "." and "..", unordered; without those that are not UTF-8.
  package func names() throws -> [String] {
    // A second descriptor, because readdir moves the offset of an open directory.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      throw SatchelError(errno: code, path)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw SatchelError(errno: errno, path) }
        return names
      }
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
  }

  /// Whether `errno` after the fsync of a directory means that the file system has none, and does not need it: CIFS, some
  /// of FUSE.
  package static func cannotSyncDirectories(_ code: Int32) -> Bool {
    code == EINVAL || code == EOPNOTSUPP || code == ENOTSUP
  }

  /// Throws for what is at `path`, behind symbolic links, and neither a file nor a directory: it must not be read,
  /// written or renamed, and no file may take its place. `/dev/null` would be lost to the whole machine.
  package static func refuseSpecial(_ path: String) throws {
    var status = stat()
    if stat(path, &status) == 0 { try refuseSpecial(path, status) }
  }

  package static func refuseSpecial(_ path: String, _ status: stat) throws {
    let kind: String
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFDIR: return
    case S_IFIFO: kind = "a named pipe"
    case S_IFSOCK: kind = "a socket"
    case S_IFCHR, S_IFBLK: kind = "a device"
    default: kind = "of an unknown kind"
    }
    throw SatchelError(.invalid, "\(path): \(kind), not a file")
  }

  /// Returns the path that symbolic links at `path` lead to, also when there is no file; `path` itself when it is no
  /// link.
  package static func resolvingLinks(_ path: String) throws -> String {
    var resolved = path
    // As many as Linux follows.
    for _ in 0..<40 {
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = readlink(resolved, &buffer, buffer.count)
      guard count > 0 else { return resolved }
      let target = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      let isAbsolute = target.utf8.first == UInt8(ascii: "/")
      resolved = isAbsolute ? target : directory(of: resolved) + "/" + target
    }
    throw SatchelError(errno: ELOOP, path)
  }

  /// Returns the directory that holds the file at `path`.
  package static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/" : String(path[..<$0]) } ?? "."
  }
}

/// The system calls that change a file.
package struct FileCalls: Sendable {
  /// Same as `pwrite`: takes file, bytes and offset; returns the number of bytes written, or -1 with `errno`
  /// set.
  package var write: @Sendable (Int32, UnsafeRawBufferPointer, Int64) -> Int
  /// Syncs a file or a directory to the disk; returns 0, or -1 with `errno` set.
  package var sync: @Sendable (Int32) -> Int32
  /// Same as `ftruncate`.
  package var truncate: @Sendable (Int32, Int64) -> Int32
  /// Same as `rename`: takes the old and the new path.
  package var rename: @Sendable (String, String) -> Int32
  /// Same as `renameat`: takes the old directory and name, and the new ones.
  package var renameIn: @Sendable (Int32, String, Int32, String) -> Int32
  /// Same as `unlinkat`, for a file.
  package var remove: @Sendable (Int32, String) -> Int32
  /// Same as `mkdirat`; only the owner may use the directory.
  package var makeDirectory: @Sendable (Int32, String) -> Int32
  /// Same as `link`.
  package var link: @Sendable (String, String) -> Int32

  /// The system's own calls.
  package static let system = FileCalls(
    write: { pwrite($0, $1.baseAddress, $1.count, off_t($2)) },
    sync: { file in
      #if canImport(Darwin)
        // On Darwin, fsync leaves the bytes in the drive's cache.
        if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
      #endif
      return fsync(file)
    },
    truncate: { ftruncate($0, off_t($1)) },
    rename: { renameFile($0, $1) },
    renameIn: { renameat($0, $1, $2, $3) },
    remove: { unlinkat($0, $1, 0) },
    makeDirectory: { mkdirat($0, $1, 0o700) },
    link: { linkFile($0, $1) })
}

/// The system's `rename`, which a member with that name would shadow.
private func renameFile(_ old: String, _ new: String) -> Int32 { rename(old, new) }
private func linkFile(_ old: String, _ new: String) -> Int32 { link(old, new) }
