import SatchelStorage

/// A file's bytes in memory.
// Unchecked: nothing writes to them once they are read.
final class FileBytes: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer
  private let room: UnsafeMutableRawBufferPointer
  private let rooms: FileRooms

  /// Reads a file. What is added meanwhile is left for the next time; what is cut off is not there.
  init(_ file: borrowing DiskFile, into rooms: FileRooms) throws {
    let size = Int(clamping: try file.status().st_size)
    guard let room = rooms.take(size) else { throw SatchelError(.noMemory, "\(file.path): \(size) bytes") }
    do {
      let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<size]), at: 0)
      bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
      self.room = room
      self.rooms = rooms
    } catch {
      rooms.give(room)
      throw error
    }
  }

  deinit { rooms.give(room) }
}

/// Memory for files that are read one after the other: the system clears new memory, which takes as long as reading.
// Unchecked: nobody else uses what is behind the lock.
final class FileRooms: @unchecked Sendable {
  private static let least = 1 << 16
  private let unused = Guarded<[UnsafeMutableRawBufferPointer]>([])

  /// Memory for so many bytes; nil when there is none.
  fileprivate func take(_ size: Int) -> UnsafeMutableRawBufferPointer? {
    let size = max(size, Self.least)
    let known = unused.withLock { rooms in
      rooms.firstIndex { $0.count >= size && $0.count / 2 <= size }.map { rooms.remove(at: $0) }
    }
    if let known { return known }
    // What does not fit must not stand beside it.
    clear()
    // The next file may be a little larger. What is not touched is not there.
    let (count, isTooLarge) = size.addingReportingOverflow(size / 8)
    guard !isTooLarge, let room = malloc(count) else { return nil }
    preferLargePages(room, count)
    return UnsafeMutableRawBufferPointer(start: room, count: count)
  }

  fileprivate func give(_ room: UnsafeMutableRawBufferPointer) { unused.withLock { $0.append(room) } }

  private func clear() {
    let rooms = unused.withLock { rooms in
      defer { rooms = [] }
      return rooms
    }
    for room in rooms { free(room.baseAddress) }
  }

  deinit { clear() }
}
