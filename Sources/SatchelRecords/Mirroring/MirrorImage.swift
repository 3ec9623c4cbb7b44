import SatchelJSON
import SatchelStorage

/// The bytes of a mirror's file, as they were read.
struct MirrorImage {
  var bytes: [UInt8]
  /// SHA-256 of the bytes.
  var digest: String
  var stamp: Stamp

  /// By which a file that was changed or replaced is told without reading it.
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

    /// Of the file that is there now; nil for none.
    static func now(_ path: String) -> Stamp? {
      var status = stat()
      return stat(path, &status) == 0 ? Stamp(status) : nil
    }
  }

  /// Reads a file; nil when there is none.
  ///
  /// - Throws: `SatchelError` `.invalid` for what is no regular file, or more than 4 GiB; `.io`, `.noMemory`
  static func read(_ path: String) throws -> MirrorImage? {
    guard let (bytes, status) = try MirrorFile.contents(of: path) else { return nil }
    return MirrorImage(bytes: bytes, digest: SHA256.digest(bytes).hexadecimal, stamp: Stamp(status))
  }
}
