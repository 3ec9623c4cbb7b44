import SatchelStorage

/// An open file or directory of the tree that is scanned; closed when it goes out of sight.
struct OpenFile: ~Copyable, Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  /// Why something could not be opened or read.
  struct Fault: Error, Sendable, Equatable {
    var reason: String
    /// Whether there is nothing of that name.
    var isAbsent = false

    init(_ reason: String) { self.reason = reason }

    init(errno code: Int32) {
      isAbsent = code == ENOENT
      // What O_NOFOLLOW answers.
      reason = code == ELOOP ? Self.link.reason : String(cString: strerror(code))
    }

    static let link = Fault("a link, which is not followed")
    static let special = Fault("not a regular file")
    static let empty = Fault("the file is empty")
  }

  /// Opens a directory by its name in another one, never through a link.
  static func directory(_ name: String, in parent: Int32) throws(Fault) -> OpenFile {
    try open(name, in: parent, O_DIRECTORY)
  }

  /// Opens a file by its name in a directory, never through a link, and without waiting should it be a pipe.
  static func file(_ name: String, in parent: Int32) throws(Fault) -> OpenFile {
    try open(name, in: parent, O_NONBLOCK | O_NOCTTY)
  }

  private static func open(_ name: String, in parent: Int32, _ flags: Int32) throws(Fault) -> OpenFile {
    while true {
      let number = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
      if number >= 0 { return OpenFile(number) }
      let code = errno
      // A link where a directory was wanted may also be told as "not a directory".
      if code != EINTR { throw Fault(errno: code) }
    }
  }

  func stamp() throws(Fault) -> FileStamp {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw Fault(errno: errno) }
    return FileStamp(status)
  }
}
