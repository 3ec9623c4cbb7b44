/// A file that replaces the one at `path` atomically: the content is written to a temporary file in the same
/// directory, synced and renamed, so that readers see the old file or the new one, also after a power loss. A
/// value that is destroyed before `commit` removes its file.
///
/// The temporary file has a fixed name and a lock: writers in several threads and processes do not disturb
/// each other, and the file that a killed one left is reused.
package struct AtomicFile: ~Copyable {
  /// The behaviour while another writer has the file.
  package enum Contention { case wait, fail }

  /// The suffix of the file while it is written.
  package static let partSuffix = ".part"

  private static let bufferSize = 1 << 18

  private let path: String
  private let file: DiskFile
  private let calls: FileCalls
  private let keepsPermissions: Bool
  private let buffer: UnsafeMutableRawBufferPointer
  /// Bytes in the buffer, and bytes written to the file.
  private var count = 0
  private var written: Int64 = 0
  private var isRenamed = false

  /// Creates the file, empty.
  ///
  /// - Parameters:
  ///   - path: the file to replace, in a directory that exists
  ///   - mode: the permissions of the new file, before the process's umask; nil for those of the file that it
  ///     replaces
  ///   - followsLinks: whether a symbolic link at `path` stays and the file that it names is replaced, in its own
  ///     directory
  /// - Throws: `.busy` when another writer has the file and `contention` is `.fail`; `.invalid` for a device, a pipe or a
  ///   socket at `path`; `.io` and others
  package init(
    replacing path: String, mode: mode_t? = nil, followsLinks: Bool = false, contention: Contention = .wait,
    calls: FileCalls = .system
  ) throws {
    try DiskFile.refuseSpecial(path)
    let path = followsLinks ? try DiskFile.resolvingLinks(path) : path
    let file = try Self.locked(path + Self.partSuffix, mode: mode ?? 0o644, on: contention, calls)
    try file.truncate(to: 0)
    self.path = path
    self.file = file
    self.calls = calls
    keepsPermissions = mode == nil
    buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
  }

  deinit {
    if !isRenamed { unlink(file.path) }
    buffer.deallocate()
  }

  /// The path of the file while it is written: another writer, as SQLite, may be given it instead of `append`.
  package var partPath: String { file.path }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
    if count + bytes.count > buffer.count { try flush() }
    guard bytes.count <= buffer.count else {
      try file.write(bytes, at: written)
      written += Int64(bytes.count)
      return
    }
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  private mutating func flush() throws {
    try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: written)
    written += Int64(count)
    count = 0
  }

  /// Syncs the file and renames it.
  ///
  /// - Parameters:
  ///   - syncsDirectory: false to let the caller sync the directory after the last of several files
  ///   - beforeRename: runs when the file is complete and synced
  package consuming func commit(syncsDirectory: Bool = true, beforeRename: () throws -> Void = {}) throws {
    try flush()
    var old = stat()
    // The permissions of the old file were chosen deliberately.
    if keepsPermissions, stat(path, &old) == 0 { _ = fchmod(file.descriptor, old.st_mode & 0o777) }
    try file.sync()
    try beforeRename()
    guard calls.rename(file.path, path) == 0 else { throw SatchelError(errno: errno, path) }
    isRenamed = true
    if syncsDirectory { try DiskFile.syncDirectory(of: path, calls: calls) }
  }

  /// Opens a temporary file and locks it; it keeps its content.
  package static func locked(
    _ part: String, mode: mode_t, on contention: Contention, _ calls: FileCalls = .system
  ) throws -> DiskFile {
    while true {
      let file = try DiskFile(part, O_RDWR | O_CREAT | O_NOFOLLOW, mode: mode, calls: calls)
      while flock(file.descriptor, contention == .fail ? LOCK_EX | LOCK_NB : LOCK_EX) != 0 {
        let code = errno
        if code == EINTR { continue }
        guard code != EWOULDBLOCK else {
          throw SatchelError(.busy, "\(part): another thread or process is writing this file")
        }
        throw SatchelError(errno: code, part)
      }
      // Another writer may have renamed it before this one had the lock.
      if try file.isAtPath { return file }
    }
  }
}

extension AtomicFile {
  /// Gives a file that is complete, synced and closed the name `path`, also with regard to a power loss;
  /// removes it when that fails. For database files, of which no descriptor may be open here once SQLite can
  /// open them: closing it would drop the locks that this process holds on the file. The caller keeps other
  /// writers away.
  ///
  /// - Parameter replacing: false to fail when a file at `path` exists
  package static func move(
    _ part: String, to path: String, replacing: Bool, calls: FileCalls = .system
  ) throws {
    guard (replacing ? calls.rename(part, path) : link(part, path)) == 0 else {
      let code = errno
      unlink(part)
      throw SatchelError(errno: code, path)
    }
    if !replacing { unlink(part) }
    try DiskFile.syncDirectory(of: path, calls: calls)
  }
}
