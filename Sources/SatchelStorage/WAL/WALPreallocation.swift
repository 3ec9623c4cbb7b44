import CSQLite
import SatchelCore

/// Extends the WAL file with zeros before commits need the space.
///
/// A commit that makes the file longer is synced together with the file system's metadata, which takes longer
/// than the commit itself: a durable record of W5 took 300 µs without this and 142 µs with it, in alternating
/// runs. Zeros do not change the content of the WAL: SQLite treats data after its last valid frame as the
/// rest of an older WAL. Space that is only reserved (fallocate) would not help: its first use changes the
/// metadata, too.
struct WALPreallocation {
  /// The sizes of the WAL header and of a frame: a page and its header.
  private static let (headerSize, frameSize): (Int64, Int64) = (32, 4096 + 24)
  /// More than most commits need.
  private static let margin = 16 * frameSize
  /// A shorter WAL is not extended: an app that saves three values must not write more than these.
  private static let minSize: Int64 = 64 << 10
  private static let maxStep: Int64 = 1 << 20
  /// At this size the WAL is about to be reset.
  private static let maxSize = Int64(WALCheckpointer.maxFrames) * frameSize

  /// The WAL index in memory, valid while the connection is open; nil where the database has no WAL index.
  private var index: UnsafeRawPointer?
  private var hasLooked = false
  /// The bytes of the WAL in use at the latest check, and the size of its file then.
  private var used: Int64 = 0
  private var size: Int64 = 0

  /// Extends the WAL file if necessary. The caller holds SQLite's write lock, or another process might write
  /// to the same offset. A failure is ignored: if it matters, the following commit fails, too.
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
    guard used >= Self.minSize, used < Self.maxSize, isShorter || size - used < Self.margin else { return }
    guard let file = connection.walFile, let methods = file.pointee.pMethods,
      methods.pointee.xFileSize(file, &size) == SQLITE_OK, size - used < Self.margin
    else { return }
    // Doubles the file, up to a limit: the cost stays in proportion.
    let end = size + min(used, Self.maxStep)
    while size < end {
      // SQLite's VFS accepts less than 128 KiB at once.
      let count = Int32(min(end - size, Int64(Self.zeros.count)))
      guard methods.pointee.xWrite(file, Self.zeros, count, size) == SQLITE_OK else { return }
      size += Int64(count)
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: 64 << 10)
}
