import CSQLite
import SatchelCore
import Synchronization

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
  /// Whether the VFS supports shared memory for a WAL index.
  var sharesMemory: Bool {
    guard let methods = databaseFile?.pointee.pMethods else { return false }
    return methods.pointee.iVersion >= 2 && methods.pointee.xShmMap != nil
  }

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
