import SatchelCore

/// Identifies a file, whatever its name.
struct FileIdentity: Equatable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// - Returns: nil when there is no file at the path
  init?(at path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = status.st_dev
    inode = status.st_ino
  }

  /// A number that a copy of the file does not have.
  var number: Int64 { Int64(truncatingIfNeeded: inode) }

  /// The number of names that the file has, which this process has open: 0 when it was deleted; nil when it is not
  /// open.
  var nameCount: Int? {
    for descriptor in 0..<min(getdtablesize(), 1 << 16) {
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_dev == device, status.st_ino == inode else { continue }
      return Int(status.st_nlink)
    }
    return nil
  }
}
