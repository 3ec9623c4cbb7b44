import SatchelStorage

/// The directory of a library, held open: what is in it, and files of it, never of elsewhere.
// Unchecked: nothing in it changes.
final class StoryDirectory: @unchecked Sendable {
  /// What stands behind a name.
  enum Look: Equatable {
    /// A regular file; the names that lead to it from the directory, none of them a link.
    case file(StoryStamp, way: [String])
    case refused(StoryFailure)
    case absent
  }

  /// A name that looks like a story's.
  struct Entry {
    var name: String
    /// False for a name that is not UTF-8, under which nothing could be opened.
    var isReadable: Bool
  }

  private let path: String
  private let descriptor: Int32

  /// - Parameter path: a real path
  init(_ path: String) throws {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    self.path = path
    guard descriptor >= 0 else { throw SatchelError(errno: errno, path, denied: .io) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// What a file is written in, by its name; nil when it is none of ours.
  static func source(of name: String) -> StorySource? {
    if name.utf8.first == UInt8(ascii: ".") { return nil }
    if name.hasSuffix(".json") { return .json }
    return name.hasSuffix(".twee") || name.hasSuffix(".tw") ? .twee : nil
  }

  /// Names of stories' files, in no order; those that are not UTF-8 are mended, and may be the same then.
  func entries() throws -> [Entry] {
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      throw SatchelError(errno: code, path, denied: .io)
    }
    defer { closedir(stream) }
    var entries: [Entry] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SatchelError(errno: errno, path, denied: .io) }
        break
      }
      withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { name in
          let isReadable = String(validatingCString: name) != nil
          let text = String(cString: name)
          if Self.source(of: text) != nil { entries.append(Entry(name: text, isReadable: isReadable)) }
        }
      }
    }
    // Last, so that a name which looks like another one does not hide it.
    return entries.filter(\.isReadable) + entries.filter { !$0.isReadable }
  }

  /// What stands behind a name; opens nothing.
  func look(at name: String) -> Look {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return errno == ENOENT || errno == ENAMETOOLONG ? .absent : .refused(.unreadable(errno: errno))
    }
    if status.st_mode & S_IFMT == S_IFREG { return .file(StoryStamp(status), way: [name]) }
    guard status.st_mode & S_IFMT == S_IFLNK else { return .refused(.unreadable("not a regular file")) }
    return follow(name)
  }

  private func follow(_ name: String) -> Look {
    let prefix = path == "/" ? "/" : path + "/"
    guard let resolved = realpath(prefix + name, nil) else {
      return .refused(.unreadable("a link that leads nowhere: \(String(cString: strerror(errno)))"))
    }
    defer { free(resolved) }
    guard let target = String(validatingCString: resolved), target.utf8.starts(with: prefix.utf8) else {
      return .refused(.unreadable("a link that leads out of the directory", .invalid))
    }
    var status = stat()
    guard lstat(resolved, &status) == 0 else { return .refused(.unreadable(errno: errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { return .refused(.unreadable("not a regular file")) }
    let way = target.utf8.dropFirst(prefix.utf8.count).split(separator: UInt8(ascii: "/"))
    return .file(StoryStamp(status), way: way.map { String(decoding: $0, as: UTF8.self) })
  }

  /// Opens a file that `look` found. Links that took the place of anything on the way are not followed.
  ///
  /// - Returns: a descriptor, to be closed by the caller, and the file's stamp
  func openFile(way: [String]) throws(StoryFailure) -> (descriptor: Int32, stamp: StoryStamp) {
    var current = descriptor
    defer { if current != descriptor { close(current) } }
    for (index, name) in way.enumerated() {
      let isLast = index == way.count - 1
      let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (isLast ? O_NONBLOCK | O_NOCTTY : O_DIRECTORY)
      let next = openat(current, name, flags)
      guard next >= 0 else { throw .unreadable(errno: errno) }
      if current != descriptor { close(current) }
      current = next
    }
    var status = stat()
    guard current != descriptor, fstat(current, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable("not a regular file")
    }
    let opened = current
    current = descriptor
    return (opened, StoryStamp(status))
  }
}
