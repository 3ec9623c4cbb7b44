import SatchelStorage

/// Reads one file after the other into the same memory. Used by one thread at a time.
final class StoryFileReader {
  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0
  private var count = 0

  deinit { free(memory) }

  /// The content read last; valid until the next is read.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// SHA-256 of the content read last.
  var hash: [UInt8] { SHA256.digest(bytes) }

  /// Reads a file that `StoryDirectory.look` found.
  ///
  /// - Returns: the stamp of what was read; one that equals no file's when it may have changed meanwhile
  func load(_ way: [String], in directory: StoryDirectory) throws(StoryFailure) -> StoryStamp {
    count = 0
    let now = StoryStamp.now
    let (descriptor, stamp) = try directory.openFile(way: way)
    defer { close(descriptor) }
    // One byte more shows the file's end.
    try reserve(Int(clamping: stamp.size) + 1)
    while true {
      if count == capacity { try reserve(capacity * 2) }
      let got = read(descriptor, memory?.advanced(by: count), capacity - count)
      if got == 0 { break }
      if got < 0 {
        if errno == EINTR { continue }
        throw .unreadable(errno: errno)
      }
      count += got
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, StoryStamp(status) == stamp, Int64(count) == stamp.size else {
      return StoryStamp(size: stamp.size, modified: stamp.modified, changed: .min)
    }
    return stamp.settled(readAt: now)
  }

  private func reserve(_ wanted: Int) throws(StoryFailure) {
    guard wanted > capacity else { return }
    guard wanted <= StoryText.maximumSize + 1 else {
      throw .unreadable("larger than a story can be, 2 GiB", .invalid)
    }
    let size = max(wanted, 64 << 10)
    guard let grown = realloc(memory, size) else {
      throw .unreadable("no memory for \(size) bytes", .noMemory)
    }
    memory = grown
    capacity = size
  }
}
