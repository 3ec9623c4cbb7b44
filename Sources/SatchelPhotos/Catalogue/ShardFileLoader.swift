import SatchelCore
import SatchelStorage

/// Reads and parses the shard files of a directory on its own threads, a few files ahead of the caller.
struct ShardFileLoader {
  /// The result of reading a shard's file.
  // Unchecked: a file's bytes are not modified any more, and lines are pointers into them.
  enum Outcome: @unchecked Sendable {
    case missing
    /// The file equals the one that was imported before.
    case unchanged
    /// The file, and the bytes that it refers to.
    case read(ShardFile, PooledFile)
    case failed(any Error)
  }

  /// The maximum number of files in memory at once, without the one that the caller has.
  private static let ahead = 2
  private static let threads = 2

  private let shards: ReadAhead<Shard.Index, Outcome>
  private let read: @Sendable (Shard.Index) -> Outcome

  /// Starts to read.
  ///
  /// - Parameters:
  ///   - sources: SHA-256 of the files that were imported before
  ///   - manifest: the expected checksums; nil to accept any file
  init(_ directory: ShardDirectory, sources: [Shard.Index: String], manifest: Manifest? = nil) {
    let pool = BufferPool()
    let read: @Sendable (Shard.Index) -> Outcome = {
      Self.read($0, in: directory, sources: sources, named: manifest?.checksum(of: $0), pool)
    }
    self.read = read
    shards = ReadAhead(Shard.Index.all, ahead: Self.ahead, threads: Self.threads) { shards in
      while let (index, shard) = shards.next() { shards.finish(read(shard), at: index) }
    }
  }

  /// Returns the file of the next shard; called in order.
  // Without threads, the file is read here.
  func next(_ shard: Shard.Index) -> Outcome { shards.popOutcome() ?? read(shard) }

  /// Stops reading, and joins the threads.
  func stop() { shards.stop() }

  private static func read(
    _ shard: Shard.Index, in directory: ShardDirectory, sources: [Shard.Index: String], named: String?,
    _ pool: BufferPool
  ) -> Outcome {
    do {
      guard let file = try directory.open(shard.fileName) else { return .missing }
      if let source = sources[shard], named ?? source == source, try checksum(of: file) == source {
        return .unchanged
      }
      let bytes = try PooledFile(file, into: pool)
      return try withExtendedLifetime(bytes) {
        let source = Shard.checksum(bytes.bytes)
        guard named ?? source == source else {
          throw SatchelError(
            .damaged,
            "\(file.path): differs from the file that manifest.json names: it has "
              + "\(bytes.bytes.count) bytes with SHA-256 \(source)")
        }
        return .read(try ShardFile(bytes.bytes, shard: shard, source: source), bytes)
      }
    } catch {
      return .failed(error)
    }
  }

  /// Computes the SHA-256 of a file without keeping its bytes.
  private static func checksum(of file: borrowing DiskFile) throws -> String {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var hash = SHA256()
    var offset: Int64 = 0
    while true {
      let count = try file.read(into: buffer, at: offset)
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
      if count < buffer.count { return hash.digest().hexadecimal }
    }
  }
}

/// A file's bytes in memory.
// Unchecked: nothing writes to them once they are read.
final class PooledFile: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer
  private let buffer: UnsafeMutableRawBufferPointer
  private let pool: BufferPool

  /// Reads a file up to its size at the start: bytes appended meanwhile are not read, truncated ones are
  /// missing.
  init(_ file: borrowing DiskFile, into pool: BufferPool) throws {
    let size = Int(clamping: try file.status().st_size)
    guard let buffer = pool.allocate(size) else {
      throw SatchelError(.noMemory, "\(file.path): \(size) bytes")
    }
    do {
      let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]), at: 0)
      bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      self.buffer = buffer
      self.pool = pool
    } catch {
      pool.release(buffer)
      throw error
    }
  }

  deinit { pool.release(buffer) }
}

/// A pool of buffers for files that are read one after the other: the system clears new memory, which takes
/// as long as reading.
// Unchecked: the list of unused buffers is accessed only with its lock held.
final class BufferPool: @unchecked Sendable {
  private static let minSize = 1 << 16
  private let unused = Locked<[UnsafeMutableRawBufferPointer]>([])

  /// Returns a buffer of at least this size; nil when memory is exhausted.
  fileprivate func allocate(_ size: Int) -> UnsafeMutableRawBufferPointer? {
    let size = max(size, Self.minSize)
    let known = unused.withLock { buffers in
      buffers.firstIndex { $0.count >= size && $0.count / 2 <= size }.map { buffers.remove(at: $0) }
    }
    if let known { return known }
    // Buffers that do not fit are freed before a new one is allocated.
    clear()
    // The next file may be a little larger. Pages that are not touched are not allocated.
    let (count, isTooLarge) = size.addingReportingOverflow(size / 8)
    guard !isTooLarge, let buffer = malloc(count) else { return nil }
    preferLargePages(buffer, count)
    return UnsafeMutableRawBufferPointer(start: buffer, count: count)
  }

  fileprivate func release(_ buffer: UnsafeMutableRawBufferPointer) { unused.withLock { $0.append(buffer) } }

  private func clear() {
    let buffers = unused.withLock { buffers in
      defer { buffers = [] }
      return buffers
    }
    for buffer in buffers { free(buffer.baseAddress) }
  }

  deinit { clear() }
}
