import SatchelStorage

/// Holds bytes that come a part after the other against those of a file.
struct FileComparison: ~Copyable {
  private let file: DiskFile
  private let size: Int64

  init?(_ file: consuming DiskFile?) throws {
    guard let file = file.take() else { return nil }
    size = Int64(try file.status().st_size)
    self.file = file
  }

  /// They differ, or the file cannot be read.
  private struct Difference: Error {}

  /// - Parameter content: hands out the bytes; what it throws is passed on
  /// - Returns: what `content` gave; nil when they differ
  func matches<Result>(_ content: ((UnsafeRawBufferPointer) throws -> Void) throws -> Result) throws
    -> Result?
  {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { room.deallocate() }
    var position: Int64 = 0
    do {
      let result = try content { bytes in
        var done = 0
        while done < bytes.count {
          let part = bytes[within: done..<min(bytes.count, done + room.count)]
          let there = UnsafeMutableRawBufferPointer(rebasing: room[..<part.count])
          guard (try? file.read(into: there, at: position)) == part.count,
            part.elementsEqualInMemory(UnsafeRawBufferPointer(there))
          else { throw Difference() }
          done += part.count
          position += Int64(part.count)
        }
      }
      return position == size ? result : nil
    } catch is Difference {
      return nil
    }
  }
}
