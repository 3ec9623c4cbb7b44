import SatchelStorage

/// A file's bytes in memory.
// Unchecked: nothing writes to them once they are read.
final class FileBytes: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer
  private let room: UnsafeMutableRawPointer?

  /// Reads a file that is open.
  init(_ descriptor: Int32, _ name: String) throws {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SatchelError(errno: errno, name) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SatchelError(.invalid, "\(name): not a regular file")
    }
    let size = Int(clamping: status.st_size)
    guard size > 0 else {
      (bytes, room) = (UnsafeRawBufferPointer(start: nil, count: 0), nil)
      return
    }
    guard let room = malloc(size) else { throw SatchelError(.noMemory, "\(name): \(size) bytes") }
    var count = 0
    // What is added meanwhile is left for the next time; what is cut off is not there.
    while count < size {
      let read = pread(descriptor, room + count, size - count, off_t(count))
      if read < 0, errno == EINTR { continue }
      if read < 0 {
        let code = errno
        free(room)
        throw SatchelError(errno: code, name)
      }
      if read == 0 { break }
      count += read
    }
    self.room = room
    bytes = UnsafeRawBufferPointer(start: room, count: count)
  }

  deinit { free(room) }
}
