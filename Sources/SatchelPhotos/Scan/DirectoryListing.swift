import SatchelCore
import SatchelStorage

/// Lists a directory: its subdirectories, its files, and the items that a scan reports as skipped.
struct DirectoryListing {
  /// The kind of an item; a file of a format that no scan reads has none.
  enum Kind: Sendable, Equatable { case directory, file(FileKind?), link, special }

  struct Item: Sendable {
    /// The bytes on disk; need not be UTF-8.
    var name: [UInt8]
    var kind: Kind
    /// The key to sort by: the names of directories end with a slash, as in paths.
    var sortKey: [UInt8]
  }

  /// The visible items, sorted.
  var items: [Item] = []
  /// Whether the directory says that it has nothing to look at.
  var isMarkedEmpty = false
  /// Whether it has rules.
  var hasRules = false

  /// Lists an open directory.
  init(of directory: Int32) throws(OpenFile.Fault) {
    // Opened again, because reading moves the position of an open directory, and closing the listing closes
    // it.
    let copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      throw OpenFile.Fault(errno: code)
    }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw OpenFile.Fault(errno: errno) }
        break
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { buffer in Array(buffer.prefix { $0 != 0 }) }
      // Hidden items, which include the catalogue's own files, "." and "..".
      guard let first = name.first, first != UInt8(ascii: ".") else {
        if name.elementsEqual(ScanRules.emptyMarker.utf8) { isMarkedEmpty = true }
        if name.elementsEqual(ScanRules.fileName.utf8) { hasRules = true }
        continue
      }
      guard let kind = Self.kind(of: name, type: entry.pointee.d_type, in: directory) else { continue }
      let sortKey = kind == .directory ? name + [UInt8(ascii: "/")] : name
      items.append(Item(name: name, kind: kind, sortKey: sortKey))
    }
    items.sort { Self.isBefore($0.sortKey, $1.sortKey) }
  }

  private static func kind(of name: [UInt8], type: UInt8, in directory: Int32) -> Kind? {
    switch Int(type) {
    case Int(DT_DIR): return .directory
    case Int(DT_REG): return .file(FileKind(suffix: FileName.suffix(name)))
    case Int(DT_LNK): return .link
    case Int(DT_UNKNOWN): break
    default: return FileKind(suffix: FileName.suffix(name)) == .photo ? .special : nil
    }
    // Some file systems do not report the type.
    var status = stat()
    let text = name.map { CChar(bitPattern: $0) } + [0]
    guard fstatat(directory, text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    switch FileStamp(status).kind {
    case .directory: return Self.kind(of: name, type: UInt8(DT_DIR), in: directory)
    case .file: return Self.kind(of: name, type: UInt8(DT_REG), in: directory)
    case .link: return .link
    case .special: return Self.kind(of: name, type: UInt8(DT_FIFO), in: directory)
    }
  }

  private static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        guard let one = left.baseAddress, let other = right.baseAddress else {
          return left.count < right.count
        }
        let order = memcmp(one, other, min(left.count, right.count))
        return order == 0 ? left.count < right.count : order < 0
      }
    }
  }
}
