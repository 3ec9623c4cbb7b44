import CSQLite
import SatchelCore

/// The content of a database file that SQLite may have open, also in this process.
///
/// It uses SQLite's VFS: POSIX drops all of a process's fcntl locks on a file when any descriptor of it is
/// closed, so a plain open and close would unlock the live database, and another process that closes the
/// store would delete its WAL.
final class DatabaseFile {
  let path: String
  private let file: UnsafeMutablePointer<sqlite3_file>
  /// The name must stay valid: SQLite keeps its address.
  private let name: UnsafePointer<CChar>?

  init(_ path: String, isWritable: Bool = false) throws {
    self.path = path
    // The VFS follows no symbolic links.
    guard let system = sqlite3_vfs_find(nil), let open = system.pointee.xOpen,
      let name = Self.realPath(of: path).withCString({ sqlite3_create_filename($0, "", "", 0, nil) })
    else { throw SatchelError(.noMemory, "\(path): not enough memory to open it") }
    let buffer = UnsafeMutableRawPointer.allocate(
      byteCount: max(Int(system.pointee.szOsFile), 64), alignment: 16)
    buffer.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
    file = buffer.bindMemory(to: sqlite3_file.self, capacity: 1)
    self.name = UnsafePointer(name)
    let access = isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    let code = open(system, name, file, access | SQLITE_OPEN_MAIN_DB, nil)
    guard code == SQLITE_OK else {
      // SQLite does not report the cause; `errno` does.
      let reason = Self.canAccess(path, isWritable) ? EIO : errno
      throw SatchelError(errno: reason, path)
    }
  }

  deinit {
    // NULL when the file could not be opened.
    if let methods = file.pointee.pMethods { _ = methods.pointee.xClose?(file) }
    UnsafeMutableRawPointer(file).deallocate()
    sqlite3_free_filename(name)
  }

  /// Returns the absolute path without symbolic links; the path itself when there is no such file.
  static func realPath(of path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  /// Returns the path as SQLite opens it: absolute and without symbolic links, also when there is no such
  /// file.
  static func fullPath(of path: String) -> String {
    guard let system = sqlite3_vfs_find(nil) else { return path }
    var full = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
    // SQLITE_OK_SYMLINK means that there was a symbolic link.
    let code = system.pointee.xFullPathname(system, path, Int32(full.count), &full)
    guard code & 0xFF == SQLITE_OK, let end = full.firstIndex(of: 0) else { return path }
    return String(decoding: full[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func canAccess(_ path: String, _ isWritable: Bool) -> Bool {
    access(path, isWritable ? R_OK | W_OK : R_OK) == 0
  }

  /// Acquires SQLite's exclusive lock, until the value is released.
  ///
  /// - Returns: false when another connection has the store open, here or in another process
  func lock() throws -> Bool {
    for level in [SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE] {
      switch file.pointee.pMethods?.pointee.xLock?(file, level) {
      case SQLITE_OK: continue
      case SQLITE_BUSY: return false
      default: throw SatchelError(.io, "\(path): it cannot be locked")
      }
    }
    return true
  }

  /// Returns `count` bytes from `offset` on, with zeros after the end of the file.
  func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let code = bytes.withUnsafeMutableBytes {
      file.pointee.pMethods?.pointee.xRead?(file, $0.baseAddress, Int32(clamping: $0.count), offset)
        ?? SQLITE_MISUSE
    }
    // SQLITE_IOERR_SHORT_READ (a macro that Swift does not import): the rest is zero.
    guard code == SQLITE_OK || code == SQLITE_IOERR | 2 << 8 else { throw SatchelError(errno: EIO, path) }
    return bytes
  }

  /// Copies the file.
  func copy(to copy: borrowing DiskFile) throws {
    var status = stat()
    // xFileSize returns 0 for a file of one byte.
    guard stat(path, &status) == 0 else { throw SatchelError(errno: errno, path) }
    let size = Int64(status.st_size)
    var offset: Int64 = 0
    while offset < size {
      let count = Int(min(1 << 20, size - offset))
      try copy.write(read(count, at: offset), at: offset)
      offset += Int64(count)
    }
  }

  /// The file's size; SQLite returns 0 for a file of one byte.
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

/// The paths of a database's files, by the path of the database.
package struct DatabaseFileNames {
  let database: String

  package init(_ database: String) { self.database = database }

  /// The files of the database that SQLite opens at `path`: it creates its own next to the target of a
  /// symbolic link.
  init(resolving path: String) { database = DatabaseFile.fullPath(of: path) }

  var wal: String { database + "-wal" }
  /// The index of the WAL, in shared memory.
  var walIndex: String { database + "-shm" }
  var journal: String { database + "-journal" }
  /// The writes that the database could not accept: see `OutboxFile`.
  var outbox: String { database + ".outbox" }
  /// The folder of its larger assets: see `AssetFolder`.
  package var assets: String { database + ".assets" }

  /// SQLite's other files of the database.
  var companions: [String] { [wal, walIndex, journal] }
  /// The database and SQLite's other files of it.
  var all: [String] { [database] + companions }

  /// Deletes the database and SQLite's other files of it, as far as they exist.
  package func remove() { for path in all { unlink(path) } }

  func removeCompanions() { for path in companions { unlink(path) } }

  /// The permissions of the database, which its outbox and its backups have, too; the usual ones when it does
  /// not exist.
  var permissions: mode_t {
    var status = stat()
    return stat(database, &status) == 0 ? status.st_mode & 0o666 : 0o644
  }
}

/// Identifies a file, whatever its name.
struct FileIdentity: Equatable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// - Returns: nil when there is no file at the path
  init?(at path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = status.st_dev
    inode = status.st_ino
  }

  /// A number that a copy of the file does not have.
  var number: Int64 { Int64(truncatingIfNeeded: inode) }

  /// The number of names that the file has, which this process has open: 0 when it was deleted; nil when it is not
  /// open.
  var nameCount: Int? {
    for descriptor in 0..<min(getdtablesize(), 1 << 16) {
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_dev == device, status.st_ino == inode else { continue }
      return Int(status.st_nlink)
    }
    return nil
  }
}
