import SatchelStorage

/// A file's bytes in memory.
// Unchecked: nothing writes to them once they are read.
final class FileBytes: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer
  private let room: UnsafeMutableRawPointer

  /// Reads a file. What is added meanwhile is left for the next time; what is cut off is not there.
  init(_ file: borrowing DiskFile) throws {
    let size = Int(clamping: try file.status().st_size)
    guard let room = malloc(max(size, 1)) else {
      throw SatchelError(.noMemory, "\(file.path): \(size) bytes")
    }
    preferLargePages(room, size)
    do {
      let count = try file.read(into: UnsafeMutableRawBufferPointer(start: room, count: size), at: 0)
      bytes = UnsafeRawBufferPointer(start: room, count: count)
      self.room = room
    } catch {
      free(room)
      throw error
    }
  }

  deinit { free(room) }
}
