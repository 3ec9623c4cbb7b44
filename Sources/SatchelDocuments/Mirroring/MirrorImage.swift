import SatchelCore
import SatchelJSON
import SatchelStorage

/// The bytes of a mirror's file as read.
struct MirrorImage {
  var bytes: [UInt8]
  /// SHA-256 of the bytes.
  var digest: String
  var stamp: Stamp

  /// Identity, size and times of a file, by which a change or replacement is detected without reading it.
  struct Stamp: Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var modified: [Int]
    var changed: [Int]

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
      size = Int64(truncatingIfNeeded: status.st_size)
      #if canImport(Darwin)
        modified = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
        changed = [status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec]
      #else
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
      #endif
    }

    /// Returns the stamp of the current file; nil when it does not exist.
    static func now(_ path: String) -> Stamp? {
      var status = stat()
      return stat(path, &status) == 0 ? Stamp(status) : nil
    }
  }

  /// Reads a file; nil when it does not exist.
  ///
  /// - Throws: `SatchelError` `.invalid` for something that is not a regular file, or is too large;
  ///   `.io`, `.noMemory`
  static func read(_ path: String) throws -> MirrorImage? {
    guard let (bytes, status) = try MirrorFile.contents(of: path) else { return nil }
    return MirrorImage(bytes: bytes, digest: SHA256.digest(bytes).hexadecimal, stamp: Stamp(status))
  }
}
