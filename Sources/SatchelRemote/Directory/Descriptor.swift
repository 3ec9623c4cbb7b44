import SatchelCore

/// An open file descriptor, closed when it goes out of scope.
struct Descriptor: ~Copyable, Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  var status: stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// Flushes written data to stable storage.
  func sync(_ calls: FileCalls) throws(ObjectStoreError) {
    while calls.sync(number) != 0 {
      if errno != EINTR { throw .system(errno, "making a write durable") }
    }
  }
}

extension ObjectStoreError {
  /// Creates an error from an `errno`.
  ///
  /// - Parameter subject: the operation or the file, for the message
  static func system(_ code: Int32, _ subject: String) -> ObjectStoreError {
    let reason: Reason =
      switch code {
      case ENOENT: .notFound
      case EACCES, EPERM, EROFS, ELOOP: .denied
      case ENOSPC, EDQUOT, EFBIG: .failed(.full)
      case ENAMETOOLONG, ENOTDIR, EISDIR, EILSEQ: .invalidKey
      case EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, ENOLCK: .transient(retryAfter: nil)
      default: .failed(.io)
      }
    return ObjectStoreError(reason, "\(subject): \(String(cString: strerror(code)))")
  }
}
