import SatchelCore
import SatchelJSON

/// The result of compacting a store.
public struct CompactReport: Equatable, Sendable, JSONConvertible {
  /// The number of bytes by which the file became smaller.
  public var bytes: Int64
  /// The size of the file now. Where another connection still reads, the file on disk gets it with a later
  /// checkpoint.
  public var fileBytes: Int64
  /// The number of unused pages that are left, because others wrote meanwhile.
  public var freePages: Int

  public var json: JSONValue {
    ["bytes": .int(bytes), "file_bytes": .int(fileBytes), "free_pages": .int(Int64(freePages))]
  }
}

extension Database {
  /// The number of pages that one step releases: 1 MB. Others can write between two steps.
  private static let compactStep = 256

  /// Returns the unused pages of the file to the file system, in steps of their own transactions, while others read
  /// and write.
  ///
  /// Pages that were released stay so when the call is cancelled or fails; the next call continues.
  ///
  /// - Parameter progress: called with the numbers of released and of all unused pages, on the calling thread;
  ///   returning false cancels
  /// - Throws: `.cancelled`; `.readOnly`; `.invalid` inside a transaction; `.busy` while another connection writes for
  ///   longer than the busy timeout; `.full`, `.io`
  package func compact(progress: BackupProgress = { _, _ in true }) throws -> CompactReport {
    guard !options.isReadOnly else {
      throw SatchelError(.readOnly, "\(path): opened read-only; open it writable to compact it")
    }
    guard !isInTransaction else {
      throw SatchelError(.invalid, "\(path): cannot be compacted inside a transaction; end it first")
    }
    let before = try pageBytes()
    let subject = HostWork.Resource(ObjectIdentifier(self))
    let left = try withoutActuallyEscaping(progress) { progress in
      try releasePages { done, total in
        HostWork.calling("a progress callback", for: subject) { progress(done, total) }
      }
    }
    let after = try pageBytes()
    return CompactReport(bytes: max(0, before - after), fileBytes: after, freePages: left)
  }

  /// Returns unused pages to the file system. Inside a transaction that is left to a later call.
  package func shrink() throws {
    guard !options.isReadOnly, !isInTransaction else { return }
    _ = try releasePages { _, _ in true }
  }

  /// - Returns: the number of unused pages that are left
  private func releasePages(_ progress: BackupProgress) throws -> Int {
    let total = try read { Int(try $0.number("PRAGMA freelist_count")) }
    var left = total
    // Pages that others free meanwhile are left to the next call, so that this one ends.
    for _ in 0..<(total / Self.compactStep + 1) where left > 0 {
      guard progress(total - min(left, total), total) else {
        throw SatchelError(.cancelled, "\(path): cancelled by the caller; the next call continues")
      }
      let before = left
      try maintain { connection in
        try connection.execute("PRAGMA incremental_vacuum(\(Self.compactStep))")
        connection.checkpointLongWAL()
        left = Int(try connection.number("PRAGMA freelist_count"))
      }
      if left >= before { break }
    }
    try maintain { _ = checkpointer.truncate($0) }
    _ = progress(total - min(left, total), total)
    return left
  }
}

extension Database {
  /// Removes the bytes of everything that was deleted from the file and its WAL: SQLite writes the file again
  /// (VACUUM), and the WAL is truncated.
  ///
  /// - Throws: `.busy` while another handle reads or writes for too long, and in a transaction; `.full`, `.io`
  package func erase() throws {
    if isMemory { return }
    var isDone = false
    try maintain { connection in
      try connection.execute("VACUUM")
      isDone = checkpointer.truncate(connection)
    }
    guard isDone else {
      throw SatchelError(
        .busy, "\(path): deleted bytes cannot be removed from its WAL while another handle reads or writes")
    }
  }
}
