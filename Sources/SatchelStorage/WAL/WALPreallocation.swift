import CSQLite

/// Extends the WAL file by zeros before commits need the space.
///
/// A commit that makes the file longer is synced together with the file system's metadata, which takes longer than the
/// commit itself: a durable record of W5 took 300 µs without this and 142 µs with it, in turns. Zeros do not change what
/// the WAL means: SQLite takes what follows its last valid frame for the rest of an older WAL. Space that is only
/// reserved (fallocate) would not do: its first use changes the metadata, too.
struct WALPreallocation {
  /// Bytes in front of the first frame, and of a frame: a page and its header.
  private static let (headerSize, frameSize): (Int64, Int64) = (32, 4096 + 24)
  /// Most commits take less.
  private static let margin = 16 * frameSize
  /// A WAL that stays shorter is not extended: an app that saves three values must not write more than these.
  private static let shortest: Int64 = 64 << 10
  private static let longestStep: Int64 = 1 << 20
  /// From here on the WAL is about to be restarted.
  private static let longest = Int64(WALCheckpointer.maximumFrames) * frameSize

  /// The WAL index in memory, valid for as long as the connection is open; nil where there is none.
  private var index: UnsafeRawPointer?
  private var hasLooked = false
  /// Bytes of the WAL that were in use when it was last looked at, and the size of its file then.
  private var used: Int64 = 0
  private var size: Int64 = 0

  /// Must be called with SQLite's write lock held, or another process might write to the same offset. A failure is
  /// ignored: if it matters, the commit that follows fails, too.
  mutating func extend(_ connection: Connection) {
    if !hasLooked {
      hasLooked = true
      index = connection.findWALIndex()
    }
    guard let index else { return }
    // mxFrame, 16 bytes into the index: section 2.1 of "WAL-mode File Format".
    let now = Self.headerSize + Int64(index.load(fromByteOffset: 16, as: UInt32.self)) * Self.frameSize
    let isShorter = now < used
    used = now
    guard used >= Self.shortest, used < Self.longest, isShorter || size - used < Self.margin else { return }
    guard let file = connection.walFile, let methods = file.pointee.pMethods,
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
