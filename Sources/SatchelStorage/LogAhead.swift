import CSQLite

/// Writes zeros behind what is in the log, before it is needed.
///
/// A commit that makes the log's file longer is synced together with the file system's own record of the length,
/// which takes longer than the commit itself. Zeros do not change what the log means: SQLite takes whatever follows
/// its last frame for the rest of an older log. Space that is only reserved would not do: its first use is recorded,
/// too.
struct LogAhead {
  /// Bytes in front of the first frame, and of a frame: a page and its header.
  private static let (headerSize, frameSize): (Int64, Int64) = (32, 4096 + 24)
  /// Most commits take less.
  private static let margin = 16 * frameSize
  /// A log that stays shorter is left alone: an app that saves three things must not write more than these.
  private static let shortest: Int64 = 64 << 10
  private static let longestStep: Int64 = 1 << 20
  /// Behind this it is waited for until the log begins anew.
  private static let longest = Int64(LogCopier.tooLong) * frameSize

  /// The log's index in memory, for as long as the connection is open; nil where there is none.
  private var index: UnsafeRawPointer?
  private var hasLooked = false
  /// What was seen to be in the log, and how long its file was then.
  private var used: Int64 = 0
  private var size: Int64 = 0

  /// Must be called with the store's write lock held, or another process might write to the same place. What cannot
  /// be written is left to the commit, which says so if it matters.
  mutating func extend(_ connection: Connection) {
    if !hasLooked {
      hasLooked = true
      index = connection.findLogIndex()
    }
    guard let index else { return }
    // mxFrame, 16 bytes into the index: section 2.1 of "WAL-mode File Format".
    let now = Self.headerSize + Int64(index.load(fromByteOffset: 16, as: UInt32.self)) * Self.frameSize
    let isShorter = now < used
    used = now
    guard used >= Self.shortest, used < Self.longest, isShorter || size - used < Self.margin else { return }
    guard let file = connection.logFile, let methods = file.pointee.pMethods,
      methods.pointee.xFileSize(file, &size) == SQLITE_OK, size - used < Self.margin
    else { return }
    // As much again as there is: the cost stays in proportion.
    let end = size + min(used, Self.longestStep)
    while size < end {
      // SQLite's way to the disk takes less than 128 KiB at once.
      let portion = Int32(min(end - size, Int64(Self.zeros.count)))
      guard methods.pointee.xWrite(file, Self.zeros, portion, size) == SQLITE_OK else { return }
      size += Int64(portion)
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: 64 << 10)
}
