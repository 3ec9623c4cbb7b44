import SatchelStorage

/// A directory of shards' files: 0.csv to f.csv, and manifest.json.
struct ShardDirectory {
  let path: String

  static let manifest = "manifest.json"

  /// A shard's file; nil when there is none.
  func read(_ shard: Shard.Index) throws -> FileBytes? { try read(shard.fileName) }

  /// A file; nil when there is none.
  ///
  /// - Throws: `.invalid` for what is no regular file, `.io`, `.noMemory`
  func read(_ file: String) throws -> FileBytes? {
    let name = "\(path)/\(file)"
    let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw SatchelError(errno: errno, name)
    }
    defer { close(descriptor) }
    return try FileBytes(descriptor, name)
  }

  /// Writes a file, in place of the one that is there; whoever reads sees one or the other.
  ///
  /// - Returns: false when it has these bytes already, and is left alone
  func write(_ file: String, _ bytes: [UInt8]) throws -> Bool {
    // What cannot be read is replaced.
    if let old = try? read(file), old.bytes.elementsEqual(bytes) { return false }
    let name = "\(path)/\(file)"
    let part = "\(name).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw SatchelError(errno: errno, part) }
    do {
      defer { close(descriptor) }
      try Self.write(bytes, to: descriptor, part)
      guard fsync(descriptor) == 0 else { throw SatchelError(errno: errno, part) }
      guard rename(part, name) == 0 else { throw SatchelError(errno: errno, name) }
      return true
    } catch {
      unlink(part)
      throw error
    }
  }

  /// Makes the directory, but not those above it.
  func make() throws {
    guard mkdir(path, 0o755) != 0 else { return }
    let code = errno
    guard code == EEXIST else { throw SatchelError(errno: code, path) }
  }

  /// Makes new names survive a power cut.
  func sync() throws {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SatchelError(errno: errno, path) }
    defer { close(descriptor) }
    // Some file systems cannot, and need not.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw SatchelError(errno: errno, path) }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws {
    try bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let rest = bytes[within: done..<bytes.count]
        let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw SatchelError(errno: errno, name) }
        done += count
      }
    }
  }
}
