import CSQLite
import SatchelCore
import Synchronization

/// A connection's state of the WAL.
struct WALUse {
  /// Whether each commit is synced; nil while unknown.
  fileprivate(set) var isSynced: Bool?
  /// Whether SQLite's page cache may spill uncommitted pages to the WAL.
  fileprivate var spills = true
  fileprivate var preallocation = WALPreallocation()
  /// Checkpoints after commits of this connection; nil for a connection whose commits trigger none.
  fileprivate var checkpointer: WALCheckpointer?
  /// The number of frames in the WAL after the latest commit.
  fileprivate var frames = 0
}

extension Connection {
  /// The open database file of SQLite.
  var databaseFile: UnsafeMutablePointer<sqlite3_file>? { file(SQLITE_FCNTL_FILE_POINTER) }

  /// The open WAL file of SQLite; nil before its first use.
  var walFile: UnsafeMutablePointer<sqlite3_file>? { file(SQLITE_FCNTL_JOURNAL_POINTER) }

  /// Whether the VFS supports shared memory for a WAL index.
  var sharesMemory: Bool {
    guard let methods = databaseFile?.pointee.pMethods else { return false }
    return methods.pointee.iVersion >= 2 && methods.pointee.xShmMap != nil
  }

  private func file(_ pointer: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    return sqlite3_file_control(handle, "main", pointer, &file) == SQLITE_OK ? file : nil
  }

  /// Sets whether commits are synced, from the next transaction on. Without that the WAL is still synced
  /// before a checkpoint, so that the store stays consistent.
  func syncCommits(_ isSynced: Bool) throws {
    if wal.isSynced == isSynced { return }
    wal.isSynced = nil
    try execute("PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL")")
    wal.isSynced = isSynced
  }

  /// Sets whether the page cache may spill pages to the WAL before the commit, when more have changed than it
  /// can hold.
  ///
  /// Not in a transaction with savepoints. When a part that is rolled back has written a page to the WAL
  /// twice, SQLite (3.40.1, at least) marks the frames after it for computing their checksums at the commit,
  /// and then computes only those of the later ones: recovery after a crash finds neither this commit nor any
  /// later one.
  func spillPages(_ spills: Bool) throws {
    if wal.spills == spills { return }
    // In pages: only that affects the current transaction.
    try execute("PRAGMA cache_spill = \(spills ? 1 : Int32.max)")
    wal.spills = spills
  }

  /// Syncs the WAL: all commits, including those of other connections, then survive a power loss.
  func syncWAL() throws {
    // Opens the WAL if this connection has not read yet.
    _ = try number("PRAGMA schema_version")
    guard let file = walFile, let methods = file.pointee.pMethods else {
      throw SatchelError(.io, "\(path): cannot sync the WAL: it is not open")
    }
    let code = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    if code != SQLITE_OK { throw error(code, "syncing the WAL") }
  }

  /// Extends the WAL file for coming commits if each commit is synced. The caller holds SQLite's write lock.
  func preallocateWAL() {
    if wal.isSynced == true { wal.preallocation.extend(self) }
  }

  /// Lets `checkpointer` check the WAL after each commit of this connection.
  func delegateCheckpoints(to checkpointer: WALCheckpointer) {
    wal.checkpointer = checkpointer
    sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue().wal.frames = Int(frames) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Checkpoints after a commit if the WAL is long.
  func checkpointLongWAL() { wal.checkpointer?.commitFinished(on: self, frames: wal.frames) }
}

/// A copy of the WAL index header, for comparison with a later one.
///
/// The WAL index (`-shm`) begins with a header that every commit changes, with a counter and checksums of the
/// frames; its layout is part of the file format (section 2.1 of "WAL-mode File Format"). Reading it costs no
/// system call, whereas ending and beginning a read transaction costs more than a look-up by key.
struct WALIndexHeader: Equatable {
  // 48 bytes; not SIMD, whose loads must be aligned.
  private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  /// Copies the header.
  ///
  /// - Parameter header: the beginning of the WAL index in shared memory
  init(_ header: UnsafeRawPointer) {
    func word(_ number: Int) -> UInt64 { header.loadUnaligned(fromByteOffset: number * 8, as: UInt64.self) }
    words = (word(0), word(1), word(2), word(3), word(4), word(5))
    // Later reads of the file are ordered after this one.
    atomicMemoryFence(ordering: .acquiring)
  }

  static func == (left: WALIndexHeader, right: WALIndexHeader) -> Bool { left.words == right.words }
}

extension Connection {
  /// Returns the address of the WAL index, valid while this connection is open; nil for a database that is
  /// not in WAL mode. The connection must have read something before.
  func findWALIndex() -> UnsafeRawPointer? {
    guard isWAL, let file = databaseFile, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
      let map = methods.pointee.xShmMap
    else { return nil }
    let regionSize: Int32 = 32_768
    var region: UnsafeMutableRawPointer?
    // Not extended: it exists after a read.
    guard map(file, 0, regionSize, 0, &region) == SQLITE_OK else { return nil }
    return UnsafeRawPointer(region)
  }
}

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

/// Marks the error of a commit that was made in a file which is no longer at the store's path.
struct FileHasMoved: Error {}

extension Connection {
  /// Whether the path no longer names the open file. Costs one system call.
  var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Acquires the shared lock of SQLite before its first read, and then compares the path with the open file.
  ///
  /// Between SQLite's opening of a file and its first lock, another process may replace or rename the file; SQLite would
  /// then open the WAL of the one at the path, and mix the pages of both. Replacing a store needs the exclusive lock:
  /// what this returns stays true, since SQLite keeps the lock for as long as a connection in WAL mode is open.
  ///
  /// - Returns: whether the path names the open file; with false, nothing may be read
  /// - Throws: `.busy` while another connection has the exclusive lock
  func lockAtPath() throws -> Bool {
    // A database in memory has no file.
    guard let file = databaseFile, let methods = file.pointee.pMethods else { return true }
    let code = methods.pointee.xLock(file, SQLITE_LOCK_SHARED)
    if code != SQLITE_OK { throw error(code, "locking the file") }
    return !hasMoved
  }

  /// Keeps the WAL file when this connection closes.
  func keepWAL() {
    var keeps: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
  }

  /// Whether the WAL is no longer at its path.
  var hasLostWAL: Bool {
    guard isWAL, let name = sqlite3_db_filename(handle, "main"), let wal = sqlite3_filename_wal(name)
    else {
      return false
    }
    return access(wal, F_OK) != 0 && errno == ENOENT
  }

  /// Throws when the store's file was removed, renamed or replaced while it was open: SQLite would continue
  /// to write to a file without that name. Runs after each commit, and costs two system calls: a commit that
  /// `write` acknowledges was in the file at the store's path at that time.
  func verifyFileAtPath() throws {
    guard let lost = hasMoved ? "its file" : hasLostWAL ? "its WAL" : nil else { return }
    throw SatchelError(
      .io,
      "\(path): \(lost) was renamed, removed or replaced while the store was open: close the store, which completes a"
        + " renamed file, and open it again", underlying: FileHasMoved())
  }

  /// Checkpoints the WAL of a file that was renamed while it was open into the file: under its new name it has another
  /// WAL. The last connection that a handle closes calls this.
  ///
  /// SQLite does not checkpoint such a file when it closes, but when it leaves WAL mode. It then needs the exclusive
  /// lock of the file, so that another process that has opened the file by its new name is not overwritten. It cannot
  /// change the header of a file without its name, which therefore stays in WAL mode.
  ///
  /// - Throws: `.io` when another connection has the file open: the last writes are in the WAL at the old name only
  func checkpointRenamedFile() throws {
    // The name of the WAL belongs to another store now.
    if access(path, F_OK) == 0 { keepWAL() }
    let code = sqlite3_exec(handle, "PRAGMA journal_mode = DELETE", nil, nil, nil)
    // SQLITE_READONLY_DBMOVED, a macro that Swift does not import.
    guard code != SQLITE_OK, code != SQLITE_READONLY | 4 << 8 else { return }
    keepWAL()
    let reason = error(code, "completing the renamed file").message
    throw SatchelError(
      .io,
      "\(path): was renamed while the store was open, and its last writes are in \(path)-wal only, since another"
        + " connection has the file open or it cannot be written; close all others first, the last one completes the"
        + " file: \(reason)")
  }
}

/// The sizes of a WAL and of its database, in bytes.
struct WALSize {
  var wal: Int64
  var database: Int64

  /// A WAL of this size is not reported: commits that follow each other reach it before it is checkpointed.
  static let usual = Int64(WALCheckpointer.maxFrames) * 4096

  /// Whether the WAL has more than the usual size, and four times that of the database.
  var isTooLong: Bool { wal > Self.usual && wal / 4 > database }
}
