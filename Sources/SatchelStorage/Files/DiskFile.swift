/// A file or directory that is open, and closed when it goes out of sight.
package struct DiskFile: ~Copyable {
  package let descriptor: Int32
  package let path: String
  private let calls: FileCalls

  /// - Parameters:
  ///   - flags: of `open`; O_CLOEXEC is added
  ///   - mode: of a file that is made, before the process's mask
  package init(_ path: String, _ flags: Int32, mode: mode_t = 0o644, calls: FileCalls = .system) throws {
    let opened = open(path, flags | O_CLOEXEC, mode)
    guard opened >= 0 else { throw SatchelError(errno: errno, path) }
    descriptor = opened
    self.path = path
    self.calls = calls
  }

  deinit { close(descriptor) }

  package func status() throws -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SatchelError(errno: errno, path) }
    return status
  }

  /// Whether its path still leads to it.
  var isAtPath: Bool {
    get throws {
      let own = try status()
      var there = stat()
      return stat(path, &there) == 0 && there.st_ino == own.st_ino && there.st_dev == own.st_dev
    }
  }

  /// All bytes, or `count` at most, from `offset` on.
  package func read(_ count: Int = .max, at offset: Int64 = 0) throws -> [UInt8] {
    let size = min(max(0, Int64(try status().st_size) - offset), Int64(count))
    return try [UInt8](unsafeUninitializedCapacity: Int(size)) { room, done in
      done = try read(into: UnsafeMutableRawBufferPointer(room), at: offset)
    }
  }

  /// Fills the room with what stands from `offset` on.
  ///
  /// - Returns: how many bytes: fewer than there is room for when the file ends there
  package func read(into room: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
    var done = 0
    while done < room.count {
      let got = pread(
        descriptor, room.baseAddress.map { $0 + done }, room.count - done, off_t(offset) + off_t(done))
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw SatchelError(errno: errno, path) }
      if got == 0 { break }
      done += got
    }
    return done
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws {
    try bytes.withUnsafeBytes { try write($0, at: offset) }
  }

  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
    var done = 0
    while done < bytes.count {
      let count = calls.write(
        descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]), offset + Int64(done))
      if count < 0, errno == EINTR { continue }
      // Nothing written and no error: there is no room.
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

  /// Makes what was written survive a loss of power.
  package func sync() throws {
    while calls.sync(descriptor) != 0 {
      guard errno == EINTR else { throw SatchelError(errno: errno, path) }
    }
  }

  /// Makes the names in a file's directory survive a loss of power.
  package static func syncDirectory(of path: String, calls: FileCalls = .system) throws {
    let directory = try DiskFile(StoreFile.directory(of: path), O_RDONLY | O_DIRECTORY, calls: calls)
    // Some file systems cannot, and need not.
    while calls.sync(directory.descriptor) != 0, errno != EINVAL {
      guard errno == EINTR else { throw SatchelError(errno: errno, directory.path) }
    }
  }
}
