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
    self.init(
      inode: UInt64(truncatingIfNeeded: status.st_ino), size: Int64(status.st_size),
      modified: status.contentTime.nanoseconds, changed: status.changeTime.nanoseconds)
  }
}
