import SatchelCore
import SatchelStorage

/// A parsed shard file: its content in canonical form, and the range of each line.
///
/// Made outside of any transaction. Lines are pointers into the bytes: callers have to extend this value's
/// lifetime while they use them. Memory: 48 bytes a photo, and a copy of the file when it is not in canonical
/// form.
struct ShardFile {
  /// The number of bytes from which hashing on a separate thread is faster.
  private static let minSizeForThread = 1 << 18

  let shard: Shard.Index
  /// The content in canonical form: the bytes that were given, or part of them, or `owned`.
  let bytes: UnsafeRawBufferPointer
  /// The rows in the order of their md5.
  let entries: [ShardContent.Entry]
  /// The ranges of the rejected lines that are kept, in the order of the bytes.
  let kept: [Range<Int>]
  /// The rejected lines of the file as given.
  let rejected: [RejectedRow]
  /// SHA-256 of `bytes`.
  let checksum: String
  /// SHA-256 of the file as given.
  let source: String
  /// The offset of the first line in the buffer that entries refer to.
  private let origin: Int
  private let owned: OwnedBytes?

  /// Parses a file.
  ///
  /// - Parameters:
  ///   - file: must not change while this value is used
  ///   - source: its SHA-256, if known
  /// - Throws: `SatchelError` (`invalid`) when more than a million lines are rejected
  init(_ file: UnsafeRawBufferPointer, shard: Shard.Index, source known: String? = nil) throws {
    self.shard = shard
    let hash = known == nil && file.count >= Self.minSizeForThread ? Hashing(file) : nil
    defer { hash?.wait() }
    let content = try ShardContent(file, shard: shard)
    if content.kept.isEmpty, let whole = Self.whole(content) {
      bytes = file[within: whole]
      origin = whole.lowerBound
      owned = nil
      entries = content.entries
      kept = []
      rejected = content.rejected
    } else {
      let (written, rejected) = try ShardContent.reading(file, shard: shard) {
        ($0.written(from: $1), $0.rejected)
      }
      let owned = OwnedBytes(written)
      // Parsed again, since the lines have other offsets now.
      let content = try ShardContent(owned.bytes, shard: shard)
      bytes = owned.bytes
      origin = 0
      self.owned = owned
      entries = content.entries
      kept = content.kept.ordered { $0.lowerBound < $1.lowerBound }
      self.rejected = rejected
    }
    source = known ?? hash?.checksum() ?? Shard.checksum(file)
    checksum = bytes.count == file.count && owned == nil ? source : Shard.checksum(bytes)
  }

  /// Returns a photo's line.
  func line(_ entry: ShardContent.Entry) -> UnsafeRawBufferPointer { bytes[within: offsets(entry.range)] }

  /// Returns the range in `bytes` of an entry's or a kept line's range.
  func offsets(_ range: Range<Int>) -> Range<Int> {
    range.lowerBound - origin..<range.upperBound - origin
  }

  /// Returns a photo's line; nil when the file has none.
  func line(of md5: MD5) -> UnsafeRawBufferPointer? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].md5 < md5 { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].md5 == md5 else { return nil }
    return line(entries[low])
  }

  /// Returns the range of all rows when they are canonical and consecutive; else nil.
  private static func whole(_ content: ShardContent) -> Range<Int>? {
    guard let first = content.entries.first, let last = content.entries.last else { return 0..<0 }
    var end = first.range.lowerBound - 1
    for entry in content.entries {
      guard entry.isCanonical, entry.range.lowerBound == end + 1 else { return nil }
      end = entry.range.upperBound
    }
    return first.range.lowerBound..<last.range.upperBound
  }
}

/// Computes the SHA-256 of bytes on another thread.
final class Hashing {
  private let thread: SystemThread
  private let result = Locked("")
  private var isJoined = false

  /// - Parameter bytes: must not change until `wait` or `checksum` was called
  /// - Returns: nil when no thread can be started
  init?(_ bytes: UnsafeRawBufferPointer) {
    // Safe: nothing writes to the bytes until the thread is joined.
    nonisolated(unsafe) let bytes = bytes
    let result = result
    guard
      let thread = SystemThread({
        let checksum = Shard.checksum(bytes)
        result.withLock { $0 = checksum }
      })
    else { return nil }
    self.thread = thread
  }

  deinit { wait() }

  func wait() {
    guard !isJoined else { return }
    isJoined = true
    thread.join()
  }

  /// Waits, and returns 64 hexadecimal digits.
  func checksum() -> String {
    wait()
    return result.withLock { $0 }
  }
}

/// A buffer that is freed with its last reference.
final class OwnedBytes {
  private let buffer: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    buffer.copyBytes(from: bytes)
  }

  deinit { buffer.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer) }
}
