import CSQLite
import SatchelCore

/// The pages of a database file in any condition (SQLite file format, chapter 1).
final class PageFile {
  let size: Int
  /// The usable bytes of a page, without its reserved space.
  let usable: Int
  let count: Int
  private let file: DiskFile

  init(_ path: String) throws {
    file = try DiskFile(path, O_RDONLY)
    let header = try file.read(100)
    let stated = header.count == 100 ? Int(header[16]) << 8 | Int(header[17]) : 0
    let size = stated == 1 ? 65536 : stated
    self.size = size >= 512 && size & (size - 1) == 0 ? size : 4096
    let reserved = header.count == 100 ? Int(header[20]) : 0
    usable = self.size - (reserved <= 32 ? reserved : 0)
    count = Int((Int64(try file.status().st_size) + Int64(self.size) - 1) / Int64(self.size))
  }

  /// Returns a page by its number, from 1 on; nil for a page that is missing or incomplete.
  func page(_ number: Int) throws -> [UInt8]? {
    guard number >= 1, number <= count else { return nil }
    let bytes = try file.read(size, at: Int64(number - 1) * Int64(size))
    return bytes.count == size ? bytes : nil
  }

  /// Returns a page's entry in the pointer map: its kind and its parent.
  func pointer(to number: Int) throws -> (kind: UInt8, parent: Int)? {
    let run = usable / 5 + 1
    guard number > 2 else { return nil }
    let map = (number - 2) / run * run + 2
    guard map != number, let page = try page(map) else { return nil }
    let offset = 5 * (number - map - 1)
    guard offset >= 0, offset + 5 <= usable else { return nil }
    return (page[offset], page.number(4, at: offset + 1))
  }
}

extension [UInt8] {
  /// Returns a big-endian integer of `count` bytes; 0 past the end.
  func number(_ count: Int, at offset: Int) -> Int {
    guard offset >= 0, offset + count <= self.count else { return 0 }
    return self[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns a SQLite varint of 1 to 9 bytes; nil past the end.
  func varint(at offset: Int) -> (value: Int64, length: Int)? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard offset + index < count, offset >= 0 else { return nil }
      let byte = self[offset + index]
      if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), 9) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { return (Int64(bitPattern: value), index + 1) }
    }
    return nil
  }
}

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
