import SatchelStorage

/// An open file or directory, closed when it goes out of sight.
struct Descriptor: ~Copyable, Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  var status: stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// Makes what was written survive a loss of power.
  func sync() throws(ObjectStoreError) {
    while true {
      #if canImport(Darwin)
        // There fsync leaves the bytes in the drive's own memory.
        if fcntl(number, F_FULLFSYNC) == 0 || fsync(number) == 0 { return }
      #else
        if fsync(number) == 0 { return }
      #endif
      if errno != EINTR { throw .system(errno, "making a write durable") }
    }
  }
}

extension ObjectStoreError {
  /// What the system said, about what we did.
  static func system(_ code: Int32, _ what: String) -> ObjectStoreError {
    let reason: Reason =
      switch code {
      case ENOENT: .notFound
      case EACCES, EPERM, EROFS, ELOOP: .denied
      case ENOSPC, EDQUOT, EFBIG: .failed(.full)
      case ENAMETOOLONG, ENOTDIR, EISDIR, EILSEQ: .invalidKey
      case EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, ENOLCK: .transient(retryAfter: nil)
      default: .failed(.io)
      }
    return ObjectStoreError(reason, "\(what): \(String(cString: strerror(code)))")
  }
}
