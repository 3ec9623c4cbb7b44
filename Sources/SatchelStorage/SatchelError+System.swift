extension SatchelError {
  /// What the system said of a file or directory.
  ///
  /// - Parameters:
  ///   - code: of `errno`
  ///   - path: what it was said of; begins the message
  ///   - denied: what it means that access is refused
  package init(errno code: Int32, _ path: String, denied: Code = .readOnly) {
    let status: Code =
      switch code {
      case ENOENT: .notFound
      case ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, ENXIO: .invalid
      case EROFS, EACCES, EPERM: denied
      case ENOSPC, EDQUOT: .full
      case ENOMEM: .noMemory
      default: .io
      }
    self.init(status, "\(path): \(String(cString: strerror(code)))")
  }
}
