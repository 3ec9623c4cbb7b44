import SatchelCore
import SatchelStorage

/// The metadata of a file, to detect changes without reading it.
struct FileMetadata: Equatable, Sendable {
  var size: Int64
  /// The modification time (mtime), which the owner can set; in Unix nanoseconds.
  var modified: Int64
  /// The status change time (ctime), which cannot be set; in Unix nanoseconds.
  var changed: Int64

  /// The metadata of an unreadable file; different from that of every file.
  static let none = FileMetadata(size: -1, modified: 0, changed: 0)

}

extension FileMetadata {
  init(_ status: stat) {
    self.init(
      size: Int64(status.st_size), modified: status.contentTime.nanoseconds,
      changed: status.changeTime.nanoseconds)
  }

  /// Returns metadata that identifies the content read at `now`. File systems have coarse timestamps: a file
  /// that is read within one tick of a write may be written again with the same metadata. In this case the
  /// result differs from that of every file.
  func confirmed(readAt now: Int64) -> FileMetadata {
    let age = now.subtractingReportingOverflow(changed)
    guard !age.overflow, abs(age.partialValue) < Self.resolution else { return self }
    return FileMetadata(size: size, modified: modified, changed: .min)
  }

  /// An upper bound of the timestamp resolution, in nanoseconds.
  private static let resolution: Int64 = 100_000_000

  /// The current time of the clock that file systems use for timestamps.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.nanoseconds
  }
}
