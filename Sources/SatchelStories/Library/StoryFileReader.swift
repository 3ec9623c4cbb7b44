import SatchelCore
import SatchelStorage

/// Reads files into a reused buffer. Used by one thread at a time.
final class StoryFileReader {
  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0
  private var count = 0

  deinit { free(memory) }

  /// The content of the last file; valid until the next file is read.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// The SHA-256 of the content of the last file.
  var hash: [UInt8] { SHA256.digest(bytes) }

  /// Reads a file that `StoryDirectory.status(of:)` found.
  ///
  /// - Returns: the metadata of the content; different from that of every file when the file may have changed
  ///   meanwhile
  func load(_ components: [String], in directory: StoryDirectory) throws(StoryFailure) -> FileMetadata {
    count = 0
    let now = FileMetadata.now
    let (descriptor, metadata) = try directory.openFile(components: components)
    defer { close(descriptor) }
    // One extra byte detects the end of the file.
    try reserve(Int(clamping: metadata.size) + 1)
    while true {
      if count == capacity { try reserve(capacity * 2) }
      let readCount = read(descriptor, memory?.advanced(by: count), capacity - count)
      if readCount == 0 { break }
      if readCount < 0 {
        if errno == EINTR { continue }
        throw .unreadable(errno: errno)
      }
      count += readCount
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, FileMetadata(status) == metadata, Int64(count) == metadata.size
    else {
      return FileMetadata(size: metadata.size, modified: metadata.modified, changed: .min)
    }
    return metadata.confirmed(readAt: now)
  }

  private func reserve(_ minCapacity: Int) throws(StoryFailure) {
    guard minCapacity > capacity else { return }
    guard minCapacity <= StoryText.maximumSize + 1 else {
      throw .unreadable("larger than the maximum of 2 GiB", .invalid)
    }
    let size = max(minCapacity, 64 << 10)
    guard let grown = realloc(memory, size) else {
      throw .unreadable("cannot allocate \(size) bytes", .noMemory)
    }
    memory = grown
    capacity = size
  }
}
