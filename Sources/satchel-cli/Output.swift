import Satchel

/// The destination of a command's result: the standard output, or a file that is replaced atomically.
///
/// It does not use the library's `AtomicFile`: paths of arguments need not be UTF-8, and a result that can be
/// recomputed need not survive a power loss.
final class Output {
  private var descriptor: CInt
  private let target: FilePath?
  private let temporary: FilePath?
  private var buffer: [UInt8] = []

  private static let bufferSize = 1 << 16

  /// Opens the destination.
  ///
  /// - Parameter path: a file; nil or "-" for the standard output
  /// - Throws: `SatchelError` `.io`
  init(_ path: String? = nil) throws {
    guard let path, path != "-" else {
      (descriptor, target, temporary) = (STDOUT_FILENO, nil, nil)
      return
    }
    let target = FilePath(argument: path)
    var status = stat()
    let isSpecial = target.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT != S_IFREG
    // A pipe or a device is written directly; a regular file is written under a temporary name and renamed.
    let temporary = isSpecial ? nil : FilePath(bytes: target.bytes + Array(".\(getpid()).new".utf8))
    let flags = O_WRONLY | O_CLOEXEC | (isSpecial ? 0 : O_CREAT | O_EXCL)
    descriptor = (temporary ?? target).withCString { open($0, flags, 0o666) }
    (self.target, self.temporary) = (target, temporary)
    guard descriptor >= 0 else { throw SatchelError(.io, "\(path.printable): \(FileBytes.reason(errno))") }
  }

  deinit {
    // Reached only without `finish()`: the temporary file is deleted.
    guard descriptor > STDERR_FILENO else { return }
    close(descriptor)
    _ = temporary?.withCString { unlink($0) }
  }

  /// Appends text to the buffer, and writes the buffer when it is full.
  func put(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Appends bytes, as `put` does for text.
  func put(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Writes the rest of the buffer and renames a temporary file to its target.
  func finish() throws {
    try flush()
    guard descriptor > STDERR_FILENO else { return }
    let isClosed = close(descriptor) == 0
    descriptor = -1
    guard isClosed else { throw failure() }
    guard let temporary, let target else { return }
    let isMoved = temporary.withCString { from in target.withCString { rename(from, $0) } } == 0
    guard !isMoved else { return }
    let error = failure()
    _ = temporary.withCString { unlink($0) }
    throw error
  }

  /// Writes the buffer.
  func flush() throws {
    var written = 0
    while written < buffer.count {
      let count = buffer.withUnsafeBytes {
        write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure() }
      written += count
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private func failure() -> SatchelError {
    SatchelError(.io, "\(target?.text.printable ?? "the standard output"): \(FileBytes.reason(errno))")
  }
}
