import CSQLite
import SatchelCore

/// SQLite VFSs that open WAL files through `WALWriteBuffer`; each passes everything else to the VFS below it,
/// which opens all other files itself. SQLite keeps a registered VFS until the process ends, so the shared
/// library is linked never to be unloaded.
///
/// They refuse the WAL of a database file that is no longer at its path: between opening a file and locking it another
/// process may replace or rename it, and SQLite would write the pages of the one into the WAL of the other. When SQLite
/// opens the WAL it has locked the file, and who replaces a store needs that lock.
enum WALBufferVFS {
  private static let names = Locked<[String: String]>([:])

  /// Returns the name of the VFS that buffers WAL writes above another one; the first call registers it.
  ///
  /// - Parameter name: the VFS below; nil for SQLite's default
  /// - Returns: `name` itself when there is not enough memory for another VFS
  static func above(_ name: String?) -> String? {
    guard let system = sqlite3_vfs_find(name) else { return name }
    let known = String(cString: system.pointee.zName)
    return names.withLock { names in
      if let found = names[known] { return found }
      guard let made = make(system, known) else { return name }
      names[known] = made
      return made
    }
  }

  private typealias System = UnsafeMutablePointer<sqlite3_vfs>

  private static func make(_ below: System, _ known: String) -> String? {
    let system = System.allocate(capacity: 1)
    // Unique: another copy of this library in the process registers its own.
    let name = "\(known)-wal-buffer-\(UInt(bitPattern: system))"
    guard let text = strdup(name) else {
      system.deallocate()
      return nil
    }
    var calls = sqlite3_vfs()
    calls.iVersion = min(below.pointee.iVersion, 2)
    calls.szOsFile = Int32(WALWriteBuffer.size) + below.pointee.szOsFile
    calls.mxPathname = below.pointee.mxPathname
    calls.zName = UnsafePointer(text)
    calls.pAppData = UnsafeMutableRawPointer(below)
    calls.xOpen = { WALBufferVFS.open(WALBufferVFS.below($0), $1, $2, $3, $4) }
    calls.xDelete = { system, path, syncs in
      WALBufferVFS.pass(system) { $0.pointee.xDelete($0, path, syncs) }
    }
    calls.xAccess = { system, path, flags, out in
      WALBufferVFS.pass(system) { $0.pointee.xAccess($0, path, flags, out) }
    }
    calls.xFullPathname = { system, path, count, out in
      WALBufferVFS.pass(system) { $0.pointee.xFullPathname($0, path, count, out) }
    }
    calls.xRandomness = { system, count, out in
      WALBufferVFS.pass(system) { $0.pointee.xRandomness($0, count, out) }
    }
    calls.xSleep = { system, microseconds in
      WALBufferVFS.pass(system) { $0.pointee.xSleep($0, microseconds) }
    }
    calls.xCurrentTime = { system, out in
      WALBufferVFS.pass(system) { $0.pointee.xCurrentTime($0, out) }
    }
    calls.xGetLastError = { system, count, out in
      WALBufferVFS.pass(system) { $0.pointee.xGetLastError($0, count, out) }
    }
    calls.xCurrentTimeInt64 = { system, out in
      WALBufferVFS.pass(system) { $0.pointee.xCurrentTimeInt64($0, out) }
    }
    system.initialize(to: calls)
    guard sqlite3_vfs_register(system, 0) == SQLITE_OK else {
      free(text)
      system.deallocate()
      return nil
    }
    return name
  }

  private static func pass(_ system: System?, _ call: (System) -> Int32) -> Int32 { call(below(system)) }

  /// SQLite passes the registered VFS; its `pAppData` is the VFS below.
  private static func below(_ system: System?) -> System {
    system.unsafelyUnwrapped.pointee.pAppData.assumingMemoryBound(to: sqlite3_vfs.self)
  }

  private static func open(
    _ below: System, _ path: UnsafePointer<CChar>?, _ handle: WALWriteBuffer.Handle?, _ flags: Int32,
    _ out: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let handle, flags & SQLITE_OPEN_WAL != 0 else {
      return below.pointee.xOpen(below, path, handle, flags, out)
    }
    handle.pointee.pMethods = nil
    // SQLITE_READONLY_DBMOVED, a macro that Swift does not import. For “busy” SQLite would wait.
    guard isDatabaseAtItsPath(ofWAL: path) else { return SQLITE_READONLY | 4 << 8 }
    let file = WALWriteBuffer.file(below: handle)
    file.pointee.pMethods = nil
    let code = below.pointee.xOpen(below, path, file, flags, out)
    if code == SQLITE_OK {
      WALWriteBuffer.install(handle)
    } else {
      _ = file.pointee.pMethods?.pointee.xClose(file)
    }
    return code
  }

  /// Whether the path of the database to which a WAL belongs names the file that SQLite has open.
  private static func isDatabaseAtItsPath(ofWAL path: UnsafePointer<CChar>?) -> Bool {
    guard let path, let database = sqlite3_database_file_object(path) else { return true }
    var hasMoved: Int32 = 0
    let code = database.pointee.pMethods?.pointee.xFileControl(database, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    return code != SQLITE_OK || hasMoved == 0
  }
}
