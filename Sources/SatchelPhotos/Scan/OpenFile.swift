import SatchelCore
import SatchelStorage

/// An open file or directory of the scanned tree; closed by `deinit`.
struct OpenFile: ~Copyable, Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  /// The reason why a file could not be opened or read.
  struct Fault: Error, Sendable, Equatable {
    var reason: String
    /// Whether the name does not exist.
    var isAbsent = false

    init(_ reason: String) { self.reason = reason }

    init(errno code: Int32) {
      isAbsent = code == ENOENT
      // ELOOP is the error of O_NOFOLLOW.
      reason = code == ELOOP ? Self.link.reason : String(cString: strerror(code))
    }

    static let link = Fault("a link, which is not followed")
    static let special = Fault("not a regular file")
    static let empty = Fault("the file is empty")
    static let writing = Fault("a program is writing it")
  }

  /// Opens a directory by its name in another one, without following links.
  static func directory(_ name: String, in parent: Int32) throws(Fault) -> OpenFile {
    try open(name, in: parent, O_DIRECTORY)
  }

  /// Opens a file by its name in a directory, without following links, and without blocking on pipes.
  static func file(_ name: String, in parent: Int32) throws(Fault) -> OpenFile {
    try open(name, in: parent, O_NONBLOCK | O_NOCTTY)
  }

  private static func open(_ name: String, in parent: Int32, _ flags: Int32) throws(Fault) -> OpenFile {
    while true {
      let number = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
      if number >= 0 { return OpenFile(number) }
      let code = errno
      // For a link where a directory is expected, some systems report ENOTDIR.
      if code != EINTR { throw Fault(errno: code) }
    }
  }

  /// Whether a program has the file open for writing, where the system tells: a copy that is not complete.
  ///
  /// Linux grants a read lease only for a file that no program writes. Its holder gets a signal when a program
  /// opens the file for writing meanwhile; SIGURG is one that programs ignore by default, unlike SIGIO.
  var isBeingWritten: Bool {
    #if os(Linux)
      let (setSignal, setLease): (Int32, Int32) = (10, 1024)
      guard fcntl(number, setSignal, SIGURG) == 0 else { return false }
      guard fcntl(number, setLease, Int32(F_RDLCK)) == 0 else { return errno == EAGAIN }
      _ = fcntl(number, setLease, Int32(F_UNLCK))
    #endif
    return false
  }

  /// Returns the bytes of a small file.
  func bytes(_ maximum: Int) throws(Fault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: maximum + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes {
        pread(number, $0.baseAddress?.advanced(by: count), $0.count - count, off_t(count))
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw Fault(errno: errno) }
      if got == 0 { return Array(bytes.prefix(count)) }
      count += got
    }
    throw Fault("larger than \(maximum) bytes")
  }

  func stamp() throws(Fault) -> FileStamp {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw Fault(errno: errno) }
    return FileStamp(status)
  }
}

/// A file's metadata, which shows without reading it whether the file has changed.
struct FileStamp: Sendable, Equatable {
  enum Kind: Sendable { case file, directory, link, special }

  var kind: Kind
  var size: Int64
  /// Unix nanoseconds; clamped for times beyond the year 2262.
  var modified: Int64
  /// Unix seconds, rounded down.
  var modifiedSeconds: Int64
  /// When content or metadata were last changed (ctime), which programs cannot set.
  var changed: Int64
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

  /// Whether content or metadata were changed in the last minute.
  var isRecent: Bool {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let age = Self.nanoseconds(time).subtractingReportingOverflow(changed)
    return !age.overflow && age.partialValue < 60_000_000_000
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
