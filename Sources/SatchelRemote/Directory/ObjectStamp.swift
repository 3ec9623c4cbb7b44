import SatchelStorage

/// What the file system says of a file: whoever changes its content changes that.
struct ObjectStamp: Sendable, Hashable {
  var inode: UInt64
  /// Bytes.
  var size: Int64
  /// When its content was written, as anybody may set it; nanoseconds.
  var modified: Int64
  /// When anything of it was written, which nobody can set; nanoseconds.
  var changed: Int64

  init(inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  init(_ status: stat) {
    #if canImport(Darwin)
      let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (modified, changed) = (status.st_mtim, status.st_ctim)
    #endif
    self.init(
      inode: UInt64(truncatingIfNeeded: status.st_ino), size: Int64(status.st_size),
      modified: Self.nanoseconds(modified), changed: Self.nanoseconds(changed))
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
