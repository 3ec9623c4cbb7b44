import CSQLite

/// A connection's log, behind the methods that SQLite calls: what it writes is kept, and goes to the disk in large
/// pieces.
///
/// SQLite writes 24 bytes in front of each page, and then the page, each by a call of its own; the system takes longer
/// for these than for the bytes. Nobody else may look at a frame before its transaction is committed, and nobody does:
/// so all is written when the last frame of a commit is there, and before the connection itself reads, syncs, or asks
/// for anything else. What cannot be written is kept, and the call at hand fails, as does each after it until it can;
/// except for a commit, which fails as a whole.
///
/// It lies in the memory that SQLite has for an open file, in front of the file that it writes to.
struct LogFile {
  /// First, where SQLite looks for it.
  private var methods: sqlite3_file
  private var room: UnsafeMutableRawPointer?
  /// Where in the file it belongs what is kept, and how many bytes these are.
  private var start: Int64 = 0
  private var count = 0
  /// Whether the latest frame is the last one of a commit.
  private var isEnding = false

  /// In front of the file, which must be aligned for anything.
  static let size = (MemoryLayout<LogFile>.size + 15) & ~15
  /// 15 frames.
  private static let capacity = 15 * (4096 + headerSize)
  private static let headerSize = 24

  typealias Handle = UnsafeMutablePointer<sqlite3_file>

  static func file(behind handle: Handle) -> Handle {
    (UnsafeMutableRawPointer(handle) + size).assumingMemoryBound(to: sqlite3_file.self)
  }

  /// Begins to keep what is written to the file that was opened behind the handle.
  static func begin(_ handle: Handle) {
    UnsafeMutableRawPointer(handle).initializeMemory(
      as: LogFile.self, to: LogFile(methods: sqlite3_file(pMethods: calls)))
  }

  // MARK: Keeping

  private mutating func write(
    _ bytes: UnsafeRawPointer, _ amount: Int, at offset: Int64, to file: Handle, _ disk: sqlite3_io_methods
  ) -> Int32 {
    let isHeader = amount == Self.headerSize
    // The size of the store behind a commit, in pages; 0 in all other frames: "WAL-mode File Format".
    if isHeader { isEnding = (bytes + 4).loadUnaligned(as: UInt32.self) != 0 }
    // One that is written anew stands alone, since SQLite has read the frame before.
    let isAlone = isHeader && isEnding && count == 0
    let isNext = count == 0 || offset == start + Int64(count) && amount <= Self.capacity - count
    if !isNext || isAlone || amount > Self.capacity {
      let code = flush(to: file, disk)
      if code != SQLITE_OK { return code }
    }
    if room == nil { room = malloc(Self.capacity) }
    guard let room, !isAlone, amount <= Self.capacity else {
      return disk.xWrite(file, bytes, Int32(amount), offset)
    }
    if count == 0 { start = offset }
    (room + count).copyMemory(from: bytes, byteCount: amount)
    count += amount
    return isEnding && !isHeader ? flush(to: file, disk) : SQLITE_OK
  }

  private mutating func flush(to file: Handle, _ disk: sqlite3_io_methods) -> Int32 {
    guard let room, count > 0 else { return SQLITE_OK }
    let code = disk.xWrite(file, room, Int32(count), start)
    // A commit that failed is undone: its last frame must not get there later.
    if code == SQLITE_OK || isEnding { count = 0 }
    return code
  }

  // MARK: SQLite's calls

  /// Runs a call of the file behind, once nothing is kept any more.
  private static func pass(
    _ handle: Handle?, _ call: (Handle, sqlite3_io_methods) -> Int32
  ) -> Int32 {
    with(handle) { log, file, disk in
      let code = log.pointee.flush(to: file, disk)
      return code == SQLITE_OK ? call(file, disk) : code
    }
  }

  private static func with(
    _ handle: Handle?, _ call: (UnsafeMutablePointer<LogFile>, Handle, sqlite3_io_methods) -> Int32
  ) -> Int32 {
    guard let handle else { return SQLITE_MISUSE }
    let file = file(behind: handle)
    guard let disk = file.pointee.pMethods else { return SQLITE_MISUSE }
    let log = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: LogFile.self)
    return call(log, file, disk.pointee)
  }

  // Never changed, nor freed.
  nonisolated(unsafe) private static let calls: UnsafePointer<sqlite3_io_methods> = {
    var calls = sqlite3_io_methods()
    calls.iVersion = 1
    calls.xClose = { handle in
      // What is still kept was not committed.
      LogFile.with(handle) { log, file, disk in
        free(log.pointee.room)
        return disk.xClose(file)
      }
    }
    calls.xWrite = { handle, bytes, amount, offset in
      guard let bytes else { return SQLITE_MISUSE }
      return LogFile.with(handle) { log, file, disk in
        log.pointee.write(bytes, Int(amount), at: offset, to: file, disk)
      }
    }
    calls.xRead = { handle, bytes, amount, offset in
      LogFile.pass(handle) { $1.xRead($0, bytes, amount, offset) }
    }
    calls.xTruncate = { handle, size in LogFile.pass(handle) { $1.xTruncate($0, size) } }
    calls.xSync = { handle, flags in LogFile.pass(handle) { $1.xSync($0, flags) } }
    calls.xFileSize = { handle, size in LogFile.pass(handle) { $1.xFileSize($0, size) } }
    calls.xLock = { handle, level in LogFile.pass(handle) { $1.xLock($0, level) } }
    calls.xUnlock = { handle, level in LogFile.pass(handle) { $1.xUnlock($0, level) } }
    calls.xCheckReservedLock = { handle, out in LogFile.pass(handle) { $1.xCheckReservedLock($0, out) } }
    calls.xFileControl = { handle, code, argument in
      LogFile.pass(handle) { $1.xFileControl($0, code, argument) }
    }
    calls.xSectorSize = { handle in LogFile.with(handle) { $2.xSectorSize($1) } }
    calls.xDeviceCharacteristics = { handle in LogFile.with(handle) { $2.xDeviceCharacteristics($1) } }
    let place = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    place.initialize(to: calls)
    return UnsafePointer(place)
  }()
}
