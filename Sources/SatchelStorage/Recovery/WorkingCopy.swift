import CSQLite
import SatchelCore

/// A copy of a damaged store: its WAL is checkpointed, its header rebuilt where it is destroyed.
final class WorkingCopy {
  let path: String
  private(set) var isHeaderLost = false
  /// The schema version in the header; nil when it is destroyed.
  private(set) var version: Int64?

  /// Creates the copy.
  ///
  /// - Parameter path: the path of the copy, which is deleted with this object
  init(of original: String, at path: String) throws {
    self.path = path
    DatabaseFileNames(path).remove()
    try Self.copy(original, to: path)
    if StoreFile.hasWAL(original) {
      try Self.copy(DatabaseFileNames(resolving: original).wal, to: DatabaseFileNames(path).wal)
    }
    try repairHeader()
    StoreFile.applyWAL(path)
    let file = try DiskFile(path, O_RDONLY)
    if !isHeaderLost { version = try Int64(file.read(100).number(4, at: 60)) }
  }

  deinit { DatabaseFileNames(path).remove() }

  private static func copy(_ original: String, to path: String) throws {
    try DatabaseFile(original).copy(to: DiskFile(path, O_RDWR | O_CREAT | O_TRUNC, mode: 0o600))
  }

  /// Rebuilds the header if it is destroyed, so that the rest of the file can be read.
  private func repairHeader() throws {
    let file = try DiskFile(path, O_RDWR)
    let size = Int64(try file.status().st_size)
    var header = try file.read(100)
    let pageSize = header.count == 100 ? header.number(2, at: 16) : 0
    let isSound =
      header.starts(with: Array("SQLite format 3\u{0}".utf8))
      && (pageSize == 1 || pageSize >= 512 && pageSize & (pageSize - 1) == 0)
      && header.number(4, at: 68) == Int(StoreFile.applicationID)
      && Array(header[18..<24]) == [2, 2, 0, 64, 32, 32]
    guard !isSound else { return }
    isHeaderLost = true
    // As in all stores: pages of 4096 bytes, WAL mode, UTF-8, incremental vacuum.
    header =
      Array("SQLite format 3\u{0}".utf8) + [0x10, 0, 2, 2, 0, 64, 32, 32] + [UInt8](repeating: 0, count: 76)
    for (offset, value) in [(24, 1), (28, size / 4096), (40, 1), (44, 4), (52, 1), (56, 1), (64, 1), (92, 1)]
    {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) {
        header.replaceSubrange(Int(offset)..<Int(offset) + 4, with: $0)
      }
    }
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: StoreFile.applicationID).bigEndian) {
      header.replaceSubrange(68..<72, with: $0)
    }
    try file.write(header, at: 0)
  }
}
