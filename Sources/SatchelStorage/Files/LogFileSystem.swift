import CSQLite

/// SQLite's file systems, of which each has another one in front that keeps what is written to a log (`LogFile`).
/// Everything else goes to the one behind: it opens all other files itself. SQLite keeps them as long as the process
/// lives, which is why the shared library is never unloaded.
enum LogFileSystem {
  private static let names = Guarded<[String: String]>([:])

  /// The name of the one in front of another; made when it is first asked for, and there for good.
  ///
  /// - Parameter name: of the one behind; nil for SQLite's default
  /// - Returns: the name that was given, where there is no memory for another
  static func inFront(of name: String?) -> String? {
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

  private static func make(_ behind: System, _ known: String) -> String? {
    let system = System.allocate(capacity: 1)
    // Another copy of this library in the process has its own.
    let name = "\(known)-log-\(UInt(bitPattern: system))"
    guard let text = strdup(name) else {
      system.deallocate()
      return nil
    }
    var calls = sqlite3_vfs()
    calls.iVersion = min(behind.pointee.iVersion, 2)
    calls.szOsFile = Int32(LogFile.size) + behind.pointee.szOsFile
    calls.mxPathname = behind.pointee.mxPathname
    calls.zName = UnsafePointer(text)
    calls.pAppData = UnsafeMutableRawPointer(behind)
    calls.xOpen = { LogFileSystem.open(LogFileSystem.behind($0), $1, $2, $3, $4) }
    calls.xDelete = { system, path, syncs in
      LogFileSystem.pass(system) { $0.pointee.xDelete($0, path, syncs) }
    }
    calls.xAccess = { system, path, flags, out in
      LogFileSystem.pass(system) { $0.pointee.xAccess($0, path, flags, out) }
    }
    calls.xFullPathname = { system, path, count, out in
      LogFileSystem.pass(system) { $0.pointee.xFullPathname($0, path, count, out) }
    }
    calls.xRandomness = { system, count, out in
      LogFileSystem.pass(system) { $0.pointee.xRandomness($0, count, out) }
    }
    calls.xSleep = { system, microseconds in
      LogFileSystem.pass(system) { $0.pointee.xSleep($0, microseconds) }
    }
    calls.xCurrentTime = { system, out in
      LogFileSystem.pass(system) { $0.pointee.xCurrentTime($0, out) }
    }
    calls.xGetLastError = { system, count, out in
      LogFileSystem.pass(system) { $0.pointee.xGetLastError($0, count, out) }
    }
    calls.xCurrentTimeInt64 = { system, out in
      LogFileSystem.pass(system) { $0.pointee.xCurrentTimeInt64($0, out) }
    }
    system.initialize(to: calls)
    guard sqlite3_vfs_register(system, 0) == SQLITE_OK else {
      free(text)
      system.deallocate()
      return nil
    }
    return name
  }

  private static func pass(_ system: System?, _ call: (System) -> Int32) -> Int32 { call(behind(system)) }

  /// SQLite hands over the system that was registered, in which that is.
  private static func behind(_ system: System?) -> System {
    system.unsafelyUnwrapped.pointee.pAppData.assumingMemoryBound(to: sqlite3_vfs.self)
  }

  private static func open(
    _ behind: System, _ path: UnsafePointer<CChar>?, _ handle: LogFile.Handle?, _ flags: Int32,
    _ out: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let handle, flags & SQLITE_OPEN_WAL != 0 else {
      return behind.pointee.xOpen(behind, path, handle, flags, out)
    }
    let file = LogFile.file(behind: handle)
    handle.pointee.pMethods = nil
    file.pointee.pMethods = nil
    let code = behind.pointee.xOpen(behind, path, file, flags, out)
    if code == SQLITE_OK { LogFile.begin(handle) } else { _ = file.pointee.pMethods?.pointee.xClose(file) }
    return code
  }
}
