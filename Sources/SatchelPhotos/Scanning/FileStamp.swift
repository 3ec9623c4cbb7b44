import SatchelStorage

/// What tells, without reading it, whether a file is the one that it was.
struct FileStamp: Sendable, Equatable {
  enum Kind: Sendable { case file, directory, link, special }

  var kind: Kind
  var size: Int64
  /// Unix nanoseconds; the furthest that can be told, for times beyond the year 2262.
  var modified: Int64
  /// Unix seconds, rounded down.
  var modifiedSeconds: Int64
  /// When anything of it was changed, names and rights included: nobody can set it.
  private var changed: Int64
  private var device: UInt64
  private var node: UInt64

  init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .directory
    case S_IFLNK: kind = .link
    default: kind = .special
    }
    size = Int64(status.st_size)
    modifiedSeconds = Int64(status.contentTime.tv_sec)
    modified = Self.nanoseconds(status.contentTime)
    changed = Self.nanoseconds(status.changeTime)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    node = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Whether both are of the same file or directory.
  func isSame(as other: FileStamp) -> Bool { device == other.device && node == other.node }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    let seconds = Int64(time.tv_sec)
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, isTooMuch) = product.addingReportingOverflow(Int64(time.tv_nsec))
    return isTooMuch ? .max : sum
  }
}
