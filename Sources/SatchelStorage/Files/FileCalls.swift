/// The calls that change a file, so that tests can let them fail as a bad disk does.
package struct FileCalls: Sendable {
  /// As `pwrite`: file, bytes, offset; how many were written, or -1 and `errno`.
  package var write: @Sendable (Int32, UnsafeRawBufferPointer, Int64) -> Int
  /// Makes a file or a directory survive a loss of power; 0, or -1 and `errno`.
  package var sync: @Sendable (Int32) -> Int32
  /// As `ftruncate`.
  package var truncate: @Sendable (Int32, Int64) -> Int32

  /// Those of the system.
  package static let system = FileCalls(
    write: { pwrite($0, $1.baseAddress, $1.count, off_t($2)) },
    sync: { file in
      #if canImport(Darwin)
        // There fsync leaves the bytes in the drive's own memory.
        if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
      #endif
      return fsync(file)
    },
    truncate: { ftruncate($0, off_t($1)) })
}
