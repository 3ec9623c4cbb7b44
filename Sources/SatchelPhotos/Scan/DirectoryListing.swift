import SatchelCore
import SatchelStorage

/// Lists a directory: its subdirectories, its photos, and the items that a scan reports as skipped.
enum DirectoryListing {
  enum Kind: Sendable { case directory, photo, link, special }

  struct Item: Sendable {
    /// The bytes on disk; need not be UTF-8.
    var name: [UInt8]
    var kind: Kind
    /// The key to sort by: the names of directories end with a slash, as in paths.
    var sortKey: [UInt8]
  }

  /// Returns the visible items, sorted. Files whose names are not those of photos are left out.
  static func items(of directory: Int32) throws(OpenFile.Fault) -> [Item] {
    // Opened again, because reading moves the position of an open directory, and closing the listing closes
    // it.
    let copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      throw OpenFile.Fault(errno: code)
    }
    defer { closedir(stream) }
    var items: [Item] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw OpenFile.Fault(errno: errno) }
        break
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { buffer in Array(buffer.prefix { $0 != 0 }) }
      // Hidden items, which include the catalogue's own files, "." and "..".
      guard let first = name.first, first != UInt8(ascii: ".") else { continue }
      guard let kind = kind(of: name, type: entry.pointee.d_type, in: directory) else { continue }
      let sortKey = kind == .directory ? name + [UInt8(ascii: "/")] : name
      items.append(Item(name: name, kind: kind, sortKey: sortKey))
    }
    return items.sorted { isBefore($0.sortKey, $1.sortKey) }
  }

  private static func kind(of name: [UInt8], type: UInt8, in directory: Int32) -> Kind? {
    let isPhoto = PhotoSuffix.isPhoto(name)
    switch Int(type) {
    case Int(DT_DIR): return .directory
    case Int(DT_REG): return isPhoto ? .photo : nil
    case Int(DT_LNK): return .link
    case Int(DT_UNKNOWN): break
    default: return isPhoto ? .special : nil
    }
    // Some file systems do not report the type.
    var status = stat()
    let text = name.map { CChar(bitPattern: $0) } + [0]
    guard fstatat(directory, text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    switch FileStamp(status).kind {
    case .directory: return .directory
    case .file: return isPhoto ? .photo : nil
    case .link: return .link
    case .special: return isPhoto ? .special : nil
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

/// Recognizes photos by the extensions of their names, in any case.
enum PhotoSuffix {
  private static let all: Set<[UInt8]> = Set(
    [
      "jpg", "jpeg", "jpe", "jfif", "png", "gif", "heic", "heif", "hif", "avif", "tif", "tiff", "webp", "bmp",
      // Raw formats of cameras.
      "dng", "cr2", "cr3", "crw", "nef", "nrw", "arw", "srf", "sr2", "orf", "rw2", "raf", "pef", "srw", "x3f",
      "3fr", "fff", "iiq", "rwl", "mrw", "kdc", "dcr", "erf", "mef", "mos",
    ].map { Array($0.utf8) })

  /// - Parameter name: a file's name, which need not be UTF-8
  static func isPhoto(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    guard let suffix = suffix(of: name) else { return false }
    return all.contains(suffix)
  }

  /// Whether the name is of a format whose first bytes are checked.
  static func isKnownFormat(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    switch suffix(of: name).map({ String(decoding: $0, as: UTF8.self) }) {
    case "jpg", "jpeg", "jpe", "jfif", "png": true
    default: false
    }
  }

  /// Returns the extension in lower case; nil without one of up to four letters.
  private static func suffix(of name: some BidirectionalCollection<UInt8>) -> [UInt8]? {
    let end = name.suffix(5)
    guard let dot = end.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return end[end.index(after: dot)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}
