/// A file that is written to `path` + ".part" and then renamed over `path`: readers see the old file or the
/// new one, also after a power loss. A value that is destroyed before `finish` removes its file.
///
/// Writers in several threads and processes wait for each other, and reuse the file that a killed one left.
package struct PartFile: ~Copyable {
  private static let bufferSize = 1 << 18

  private let path: String
  private let file: DiskFile
  private let buffer: UnsafeMutableRawBufferPointer
  /// Bytes in the buffer, and bytes written to the file.
  private var count = 0
  private var written: Int64 = 0
  private var isRenamed = false

  /// Creates the file, and waits while another writer has it.
  ///
  /// - Parameter path: the file to replace, in a directory that exists
  package init(replacing path: String) throws {
    let file = try Self.locked(path + ".part")
    try file.truncate(to: 0)
    self.path = path
    self.file = file
    buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
  }

  deinit {
    if !isRenamed { unlink(file.path) }
    buffer.deallocate()
  }

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

  /// Renames the file over `path`, with the permissions of the file that it replaces.
  /// `DiskFile.syncDirectory` makes the name survive a power loss.
  package consuming func finish() throws {
    try flush()
    var old = stat()
    // The permissions of the old file were somebody's decision.
    if stat(path, &old) == 0 { _ = fchmod(file.descriptor, old.st_mode & 0o777) }
    try file.sync()
    guard rename(file.path, path) == 0 else { throw SatchelError(errno: errno, path) }
    isRenamed = true
  }

  /// Opens the part file and waits for its lock.
  private static func locked(_ part: String) throws -> DiskFile {
    while true {
      let file = try DiskFile(part, O_RDWR | O_CREAT | O_NOFOLLOW)
      while flock(file.descriptor, LOCK_EX) != 0 {
        guard errno == EINTR else { throw SatchelError(errno: errno, part) }
      }
      // Another writer may have renamed it while this one waited.
      if try file.isAtPath { return file }
    }
  }
}
