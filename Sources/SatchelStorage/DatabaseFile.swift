import CSQLite

/// The bytes of a file that SQLite may have open, in this process too.
///
/// It goes through SQLite's own table of open files: on closing a file, a process loses all locks (fcntl) that it
/// has on it, whichever descriptor took them. Opened and closed on the side, a store would stand there without
/// its locks, and another process that closes it would take the log away from under us.
final class DatabaseFile {
  let path: String
  private let file: UnsafeMutablePointer<sqlite3_file>
  /// SQLite keeps the address.
  private let name: UnsafePointer<CChar>?

  init(_ path: String, isWritable: Bool = false) throws {
    self.path = path
    // At this level SQLite follows no links.
    guard let system = sqlite3_vfs_find(nil), let open = system.pointee.xOpen,
      let name = Self.realPath(of: path).withCString({ sqlite3_create_filename($0, "", "", 0, nil) })
    else { throw SatchelError(.noMemory, "\(path): no memory to open it") }
    let room = UnsafeMutableRawPointer.allocate(
      byteCount: max(Int(system.pointee.szOsFile), 64), alignment: 16)
    room.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
    file = room.bindMemory(to: sqlite3_file.self, capacity: 1)
    self.name = UnsafePointer(name)
    let access = isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    let code = open(system, name, file, access | SQLITE_OPEN_MAIN_DB, nil)
    guard code == SQLITE_OK else {
      // SQLite does not say why; the system does.
      let reason = Self.canAccess(path, isWritable) ? EIO : errno
      throw SatchelError(errno: reason, path)
    }
  }

  deinit {
    // NULL when it could not be opened.
    if let methods = file.pointee.pMethods { _ = methods.pointee.xClose?(file) }
    UnsafeMutableRawPointer(file).deallocate()
    sqlite3_free_filename(name)
  }

  /// The path without links, from the root on; as it is where there is no such file.
  static func realPath(of path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  /// The path as SQLite opens it: from the root on, without links, also where there is no such file yet.
  static func fullPath(of path: String) -> String {
    guard let system = sqlite3_vfs_find(nil) else { return path }
    var full = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
    // SQLITE_OK_SYMLINK says that there was a link.
    let code = system.pointee.xFullPathname(system, path, Int32(full.count), &full)
    guard code & 0xFF == SQLITE_OK, let end = full.firstIndex(of: 0) else { return path }
    return String(decoding: full[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func canAccess(_ path: String, _ isWritable: Bool) -> Bool {
    access(path, isWritable ? R_OK | W_OK : R_OK) == 0
  }

  /// Takes the lock that no open store lets anyone have, until this is given up.
  ///
  /// - Returns: whether it could be had: nobody has the store open, here or in another process
  func lock() throws -> Bool {
    for level in [SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE] {
      switch file.pointee.pMethods?.pointee.xLock?(file, level) {
      case SQLITE_OK: continue
      case SQLITE_BUSY: return false
      default: throw SatchelError(.io, "\(path): its lock cannot be had")
      }
    }
    return true
  }

  /// So many bytes; zeros behind the end.
  func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let code = bytes.withUnsafeMutableBytes {
      file.pointee.pMethods?.pointee.xRead?(file, $0.baseAddress, Int32(clamping: $0.count), offset)
        ?? SQLITE_MISUSE
    }
    // A short read (a macro that Swift does not import): the rest is zero.
    guard code == SQLITE_OK || code == SQLITE_IOERR | 2 << 8 else { throw SatchelError(errno: EIO, path) }
    return bytes
  }

  /// Copies all bytes.
  func copy(to copy: borrowing DiskFile) throws {
    var status = stat()
    // SQLite says 0 of a file of one byte.
    guard stat(path, &status) == 0 else { throw SatchelError(errno: errno, path) }
    let size = Int64(status.st_size)
    var offset: Int64 = 0
    while offset < size {
      let count = Int(min(1 << 20, size - offset))
      try copy.write(read(count, at: offset), at: offset)
      offset += Int64(count)
    }
  }

  /// Bytes in the file; SQLite says 0 of a file of 1.
  var size: Int64 {
    get throws {
      var size: Int64 = 0
      guard file.pointee.pMethods?.pointee.xFileSize?(file, &size) == SQLITE_OK else {
        throw SatchelError(errno: EIO, path)
      }
      return size
    }
  }
}
