import CSQLite
import Synchronization

/// The header of the WAL index at one moment, to be compared with that of another.
///
/// The WAL index (`-shm`) begins with a header that every commit changes, with a counter and checksums of the
/// frames; its layout is part of the file format (section 2.1 of "WAL-mode File Format"). Reading it costs no system
/// call, whereas ending and beginning a read transaction costs more than a look-up by key.
struct WALIndexHeader: Equatable {
  // 48 bytes; not SIMD, whose loads must be aligned.
  private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  /// - Parameter header: the shared memory that the index begins with
  init(_ header: UnsafeRawPointer) {
    func word(_ number: Int) -> UInt64 { header.loadUnaligned(fromByteOffset: number * 8, as: UInt64.self) }
    words = (word(0), word(1), word(2), word(3), word(4), word(5))
    // Whatever is read from the file afterwards is no older than this.
    atomicMemoryFence(ordering: .acquiring)
  }

  static func == (left: WALIndexHeader, right: WALIndexHeader) -> Bool { left.words == right.words }
}

extension Connection {
  /// Whether the VFS has shared memory for a WAL index.
  var sharesMemory: Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let methods = file?.pointee.pMethods else { return false }
    return methods.pointee.iVersion >= 2 && methods.pointee.xShmMap != nil
  }

  /// The address of the WAL index for as long as this connection is open; nil for a database that is not in WAL mode.
  /// Something must have been read before.
  func findWALIndex() -> UnsafeRawPointer? {
    guard (try? first("PRAGMA journal_mode", read: { $0.text(0) })) == "wal" else { return nil }
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap
    else { return nil }
    let regionSize: Int32 = 32_768
    var region: UnsafeMutableRawPointer?
    // Not extended: it exists, since something was read.
    guard map(file, 0, regionSize, 0, &region) == SQLITE_OK else { return nil }
    return UnsafeRawPointer(region)
  }
}
