import SatchelStorage

/// What stands in a directory, as far as it concerns a scan: directories, photos, and what is to be told.
enum DirectoryListing {
  enum Kind: Sendable { case directory, photo, link, special }

  struct Item: Sendable {
    /// As on disk; need not be UTF-8.
    var name: [UInt8]
    var kind: Kind
    /// Where it stands among its neighbours: directories have a slash behind their names, as in paths.
    var place: [UInt8]
  }

  /// Visible items in the order of their places. Files that are no photos by their names are left out.
  static func items(of directory: Int32) throws(OpenFile.Fault) -> [Item] {
    // Opened anew, because reading moves the place in an open directory, and closing the listing closes it.
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
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { room in Array(room.prefix { $0 != 0 }) }
      // Hidden ones, the catalogue's own files among them, and the two that lead to here and up.
      guard let first = name.first, first != UInt8(ascii: ".") else { continue }
      guard let kind = kind(of: name, told: entry.pointee.d_type, in: directory) else { continue }
      let place = kind == .directory ? name + [UInt8(ascii: "/")] : name
      items.append(Item(name: name, kind: kind, place: place))
    }
    return items.sorted { isBefore($0.place, $1.place) }
  }

  private static func kind(of name: [UInt8], told: UInt8, in directory: Int32) -> Kind? {
    let isPhoto = PhotoSuffix.isPhoto(name)
    switch Int(told) {
    case Int(DT_DIR): return .directory
    case Int(DT_REG): return isPhoto ? .photo : nil
    case Int(DT_LNK): return .link
    case Int(DT_UNKNOWN): break
    default: return isPhoto ? .special : nil
    }
    // Some file systems do not tell.
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
