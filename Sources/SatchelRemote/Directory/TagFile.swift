import SatchelStorage

/// The tags of a directory's files, kept with the stamps that the files had when they were read.
///
/// A checksum, then of each file its stamp and the hash that its tag is made of. A file that is missing or damaged only
/// means that the objects have to be read again; each line is true whoever wrote it, so that the last writer may win.
struct TagFile {
  private static let lineSize = 64
  private static let checksumSize = 32

  private let tree: DirectoryTree
  private let directory: [String]
  private let name: String

  /// - Parameter path: what the keys in the directory begin with; empty, or with a slash at its end
  init(_ tree: DirectoryTree, of path: String) {
    self.tree = tree
    directory = [DirectoryTree.reserved, "tags"]
    // By its hash: a path may be longer than a name can be.
    name = SHA256.digest(path.utf8).hexadecimal
  }

  /// Hashes by stamp; none when there is nothing to go by.
  func read() -> [ObjectStamp: [UInt8]] {
    let way = directory + [name]
    guard let key = try? ObjectKey(way.joined(separator: "/")),
      let file = try? tree.object(key, way: way), let bytes = try? file.body(.never).body,
      bytes.count >= Self.checksumSize
    else { return [:] }
    let lines = bytes.dropFirst(Self.checksumSize)
    guard lines.count.isMultiple(of: Self.lineSize),
      SHA256.digest(lines).elementsEqual(bytes.prefix(Self.checksumSize))
    else { return [:] }
    var hashes: [ObjectStamp: [UInt8]] = [:]
    hashes.reserveCapacity(lines.count / Self.lineSize)
    for start in stride(from: lines.startIndex, to: lines.endIndex, by: Self.lineSize) {
      let stamp = ObjectStamp(
        inode: Self.number(lines, start), size: Int64(bitPattern: Self.number(lines, start + 8)),
        modified: Int64(bitPattern: Self.number(lines, start + 16)),
        changed: Int64(bitPattern: Self.number(lines, start + 24)))
      hashes[stamp] = Array(lines[start + 32..<start + Self.lineSize])
    }
    return hashes
  }

  /// - Parameter file: new and empty, to become this one
  func write(_ hashes: [ObjectStamp: [UInt8]], in file: IncomingFile) throws(ObjectStoreError) {
    var lines: [UInt8] = []
    lines.reserveCapacity(hashes.count * Self.lineSize)
    for (stamp, hash) in hashes where hash.count == Self.lineSize - 32 {
      Self.append(stamp.inode, to: &lines)
      for number in [stamp.size, stamp.modified, stamp.changed] {
        Self.append(UInt64(bitPattern: number), to: &lines)
      }
      lines += hash
    }
    guard let place = try tree.directory(directory[...], making: true) else { return }
    try file.write(SHA256.digest(lines) + lines, .never)
    try file.move(to: place, name)
  }

  func remove() {
    if let place = try? tree.directory(directory[...]) { unlinkat(place.number, name, 0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>, _ start: Int) -> UInt64 {
    bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }
}
