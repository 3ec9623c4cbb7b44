import SatchelCore

/// The file with the cached ETags of one directory.
///
/// Format: a checksum, then for each file its version and the hash that its ETag consists of. If the cache
/// file is missing or damaged, the objects are read again. Each record is correct regardless of its writer,
/// so the last writer may win.
struct ETagCacheFile {
  private static let recordSize = 64
  private static let checksumSize = 32

  private let tree: DirectoryTree
  private let directory: [String]
  private let name: String

  /// - Parameter path: the prefix of the keys in the directory; empty, or with a slash at its end
  init(_ tree: DirectoryTree, of path: String) {
    self.tree = tree
    directory = [DirectoryTree.reserved, "tags"]
    // The name is a hash, because a path may be longer than a file name can be.
    name = SHA256.digest(path.utf8).hexadecimal
  }

  /// Returns the hashes by file version; empty when the file is missing or damaged.
  func read() -> [FileVersion: [UInt8]] {
    let path = directory + [name]
    guard let key = try? ObjectKey(path.joined(separator: "/")),
      let file = try? tree.object(key, path: path), let bytes = try? file.body(limit: 64 << 20, .never).body,
      bytes.count >= Self.checksumSize
    else { return [:] }
    let records = bytes.dropFirst(Self.checksumSize)
    guard records.count.isMultiple(of: Self.recordSize),
      SHA256.digest(records).elementsEqual(bytes.prefix(Self.checksumSize))
    else { return [:] }
    var hashes: [FileVersion: [UInt8]] = [:]
    hashes.reserveCapacity(records.count / Self.recordSize)
    for start in stride(from: records.startIndex, to: records.endIndex, by: Self.recordSize) {
      let version = FileVersion(
        inode: Self.number(records, start), size: Int64(bitPattern: Self.number(records, start + 8)),
        modified: Int64(bitPattern: Self.number(records, start + 16)),
        changed: Int64(bitPattern: Self.number(records, start + 24)))
      hashes[version] = Array(records[start + 32..<start + Self.recordSize])
    }
    return hashes
  }

  /// Writes the hashes and replaces the cache file.
  ///
  /// - Parameter file: a new, empty temporary file
  func write(_ hashes: [FileVersion: [UInt8]], in file: IncomingFile) throws(ObjectStoreError) {
    var records: [UInt8] = []
    records.reserveCapacity(hashes.count * Self.recordSize)
    for (version, hash) in hashes where hash.count == Self.recordSize - 32 {
      Self.append(version.inode, to: &records)
      for number in [version.size, version.modified, version.changed] {
        Self.append(UInt64(bitPattern: number), to: &records)
      }
      records += hash
    }
    guard let parent = try tree.directory(directory[...], making: true) else { return }
    try file.write(SHA256.digest(records) + records, .never)
    try file.move(to: parent, name)
  }

  func remove() {
    if let parent = try? tree.directory(directory[...]) { unlinkat(parent.number, name, 0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>, _ start: Int) -> UInt64 {
    bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }
}

/// The metadata of a file that changes whenever its content does.
struct FileVersion: Sendable, Hashable {
  var inode: UInt64
  /// The size in bytes.
  var size: Int64
  /// The modification time (mtime), which programs can set, in nanoseconds.
  var modified: Int64
  /// The change time (ctime), which programs cannot set, in nanoseconds.
  var changed: Int64
}

extension FileVersion {
  init(_ status: stat) {
    self.init(
      inode: UInt64(truncatingIfNeeded: status.st_ino), size: Int64(status.st_size),
      modified: status.contentTime.nanoseconds, changed: status.changeTime.nanoseconds)
  }
}
