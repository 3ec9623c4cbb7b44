import CSQLite
import SatchelCore

/// A WAL file as SQLite has it open, which collects the frames of a COMMIT and writes them in large writes.
///
/// SQLite writes each frame by two calls, 24 bytes of header and then the page, and the system takes longer
/// for the calls than for the bytes. Between `begin` and `end`, which enclose a COMMIT, this collects up to
/// 15 frames and writes them by one call. It writes the buffered frames before SQLite syncs, reads or does
/// anything else with the file, and with the last frame of the commit: SQLite publishes a commit in the WAL
/// index only after that.
///
/// No frame is buffered outside a COMMIT. A transaction that is rolled back, or whose commit fails, would
/// otherwise leave frames here that a later call writes over commits of other connections.
///
/// SQLite allocates the memory of an open file; this struct is at its beginning, before the file of the VFS
/// below.
struct WALWriteBuffer {
  /// The first field, where SQLite expects it.
  private var methods: sqlite3_file
  private var isCommitting = false
  private var buffer: UnsafeMutableRawPointer?
  /// The file offset and the number of the buffered bytes.
  private var start: Int64 = 0
  private var count = 0
  /// Whether the latest frame header belongs to the last frame of a commit.
  private var isLastFrame = false
  /// The result of writing buffered frames: every later call of the same COMMIT fails with it.
  private var failure = SQLITE_OK

  /// Rounded up, because the file below must be aligned for any type.
  static let size = (MemoryLayout<WALWriteBuffer>.size + 15) & ~15
  /// The buffer's size: 15 frames.
  private static let capacity = 15 * (4096 + headerSize)
  private static let headerSize = 24

  typealias Handle = UnsafeMutablePointer<sqlite3_file>

  static func file(below handle: Handle) -> Handle {
    (UnsafeMutableRawPointer(handle) + size).assumingMemoryBound(to: sqlite3_file.self)
  }

  /// Initializes the struct before the file that was opened below the handle.
  static func install(_ handle: Handle) {
    UnsafeMutableRawPointer(handle).initializeMemory(
      as: WALWriteBuffer.self, to: WALWriteBuffer(methods: sqlite3_file(pMethods: calls)))
  }

  /// Returns the buffer of a WAL file; nil for a file that `WALBufferVFS` did not open.
  static func of(_ handle: Handle) -> UnsafeMutablePointer<WALWriteBuffer>? {
    guard handle.pointee.pMethods == calls else { return nil }
    return UnsafeMutableRawPointer(handle).assumingMemoryBound(to: WALWriteBuffer.self)
  }

  // MARK: Buffering

  /// Starts to buffer frames, before a COMMIT.
  mutating func begin() { isCommitting = true }

  /// Stops buffering, after the COMMIT. Remaining frames belong to a failed commit, and are dropped.
  mutating func end() {
    isCommitting = false
    count = 0
    isLastFrame = false
    failure = SQLITE_OK
  }

  private mutating func write(
    _ bytes: UnsafeRawPointer, _ amount: Int, at offset: Int64, to file: Handle, _ disk: sqlite3_io_methods
  ) -> Int32 {
    guard isCommitting, amount <= Self.capacity, let buffer = buffer ?? malloc(Self.capacity) else {
      let code = flush(to: file, disk)
      return code == SQLITE_OK ? disk.xWrite(file, bytes, Int32(amount), offset) : code
    }
    self.buffer = buffer
    let isHeader = amount == Self.headerSize
    // The size of the database in pages after a commit; 0 in all other frames: "WAL-mode File Format".
    if isHeader { isLastFrame = (bytes + 4).loadUnaligned(as: UInt32.self) != 0 }
    // The header of a frame whose checksum SQLite computes again; its page is already in the file.
    let isAlone = isHeader && isLastFrame && count == 0
    let isNext = count == 0 || offset == start + Int64(count) && amount <= Self.capacity - count
    if !isNext || isAlone {
      let code = flush(to: file, disk)
      if code != SQLITE_OK { return code }
    }
    if isAlone { return disk.xWrite(file, bytes, Int32(amount), offset) }
    if count == 0 { start = offset }
    (buffer + count).copyMemory(from: bytes, byteCount: amount)
    count += amount
    return isLastFrame && !isHeader ? flush(to: file, disk) : SQLITE_OK
  }

  private mutating func flush(to file: Handle, _ disk: sqlite3_io_methods) -> Int32 {
    guard let buffer, count > 0 else { return failure }
    failure = disk.xWrite(file, buffer, Int32(count), start)
    count = 0
    return failure
  }

  // MARK: SQLite's calls

  /// Calls the file below, after writing the buffered frames.
  private static func pass(
    _ handle: Handle?, _ call: (Handle, sqlite3_io_methods) -> Int32
  ) -> Int32 {
    with(handle) { buffer, file, disk in
      let code = buffer.pointee.flush(to: file, disk)
      return code == SQLITE_OK ? call(file, disk) : code
    }
  }

  private static func with(
    _ handle: Handle?, _ call: (UnsafeMutablePointer<WALWriteBuffer>, Handle, sqlite3_io_methods) -> Int32
  ) -> Int32 {
    guard let handle else { return SQLITE_MISUSE }
    let file = file(below: handle)
    guard let disk = file.pointee.pMethods else { return SQLITE_MISUSE }
    let buffer = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: WALWriteBuffer.self)
    return call(buffer, file, disk.pointee)
  }

  // Never changed or freed.
  nonisolated(unsafe) private static let calls: UnsafePointer<sqlite3_io_methods> = {
    var calls = sqlite3_io_methods()
    calls.iVersion = 1
    calls.xClose = { handle in
      WALWriteBuffer.with(handle) { buffer, file, disk in
        free(buffer.pointee.buffer)
        buffer.pointee.buffer = nil
        return disk.xClose(file)
      }
    }
    calls.xWrite = { handle, bytes, amount, offset in
      guard let bytes else { return SQLITE_MISUSE }
      return WALWriteBuffer.with(handle) { buffer, file, disk in
        buffer.pointee.write(bytes, Int(amount), at: offset, to: file, disk)
      }
    }
    calls.xRead = { handle, bytes, amount, offset in
      WALWriteBuffer.pass(handle) { $1.xRead($0, bytes, amount, offset) }
    }
    calls.xTruncate = { handle, size in WALWriteBuffer.pass(handle) { $1.xTruncate($0, size) } }
    calls.xSync = { handle, flags in WALWriteBuffer.pass(handle) { $1.xSync($0, flags) } }
    calls.xFileSize = { handle, size in WALWriteBuffer.pass(handle) { $1.xFileSize($0, size) } }
    calls.xLock = { handle, level in WALWriteBuffer.pass(handle) { $1.xLock($0, level) } }
    calls.xUnlock = { handle, level in WALWriteBuffer.pass(handle) { $1.xUnlock($0, level) } }
    calls.xCheckReservedLock = { handle, out in WALWriteBuffer.pass(handle) { $1.xCheckReservedLock($0, out) }
    }
    calls.xFileControl = { handle, code, argument in
      WALWriteBuffer.pass(handle) { $1.xFileControl($0, code, argument) }
    }
    calls.xSectorSize = { handle in WALWriteBuffer.with(handle) { $2.xSectorSize($1) } }
    calls.xDeviceCharacteristics = { handle in WALWriteBuffer.with(handle) { $2.xDeviceCharacteristics($1) } }
    let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    table.initialize(to: calls)
    return UnsafePointer(table)
  }()
}
