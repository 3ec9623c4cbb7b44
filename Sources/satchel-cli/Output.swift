import Satchel

/// Where a command's result goes: the standard output, or a file that appears whole or not at all.
final class Output {
  private var descriptor: CInt
  private let target: FilePath?
  private let draft: FilePath?
  private var buffer: [UInt8] = []

  private static let bufferSize = 1 << 16

  /// - Parameter path: a file; nil or "-" for the standard output
  /// - Throws: `SatchelError` `.io`
  init(_ path: String? = nil) throws {
    guard let path, path != "-" else {
      (descriptor, target, draft) = (STDOUT_FILENO, nil, nil)
      return
    }
    let target = FilePath(argument: path)
    var facts = stat()
    let isOther = target.withCString { stat($0, &facts) } == 0 && facts.st_mode & S_IFMT != S_IFREG
    // A pipe or a device is written as it is; a file is made beside, and put in place when it is whole.
    let draft = isOther ? nil : FilePath(bytes: target.bytes + Array(".\(getpid()).new".utf8))
    let flags = O_WRONLY | O_CLOEXEC | (isOther ? 0 : O_CREAT | O_EXCL)
    descriptor = (draft ?? target).withCString { open($0, flags, 0o666) }
    (self.target, self.draft) = (target, draft)
    guard descriptor >= 0 else { throw SatchelError(.io, "\(path.printable): \(FileBytes.reason(errno))") }
  }

  deinit {
    // Not finished: what was begun goes.
    guard descriptor > STDERR_FILENO else { return }
    close(descriptor)
    _ = draft?.withCString { unlink($0) }
  }

  func put(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Writes what is left, and puts a file in its place.
  func finish() throws {
    try flush()
    guard descriptor > STDERR_FILENO else { return }
    let isClosed = close(descriptor) == 0
    descriptor = -1
    guard isClosed else { throw failure() }
    guard let draft, let target else { return }
    let isMoved = draft.withCString { from in target.withCString { rename(from, $0) } } == 0
    guard !isMoved else { return }
    let error = failure()
    _ = draft.withCString { unlink($0) }
    throw error
  }

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
