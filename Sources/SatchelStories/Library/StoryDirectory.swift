import SatchelCore
import SatchelStorage

/// An open directory of a library, which opens only files inside it.
// Unchecked: immutable.
final class StoryDirectory: @unchecked Sendable {
  /// The status of a name in the directory.
  enum EntryStatus: Equatable {
    /// A regular file, and the components of its path in the directory, none of them a link.
    case file(FileMetadata, components: [String])
    case refused(StoryFailure)
    case absent
  }

  /// A name with the extension of a story.
  struct Entry {
    var name: String
    /// Whether the name is UTF-8; a file with another name cannot be opened.
    var isReadable: Bool
  }

  let path: String
  private let sources: [StorySource]
  private let descriptor: Int32

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - path: a real path
  ///   - sources: the formats of its stories
  init(_ path: String, sources: [StorySource]) throws {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    (self.path, self.sources) = (path, sources)
    guard descriptor >= 0 else { throw SatchelError(errno: errno, path, denied: .io) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns the format of a file, by its name; nil when it is not a story.
  func source(of name: String) -> StorySource? { sources.first { $0.isFormat(of: name) } }

  /// Returns the names of story files, unordered. Names that are not UTF-8 are repaired, and may then be
  /// equal.
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
          if source(of: text) != nil { entries.append(Entry(name: text, isReadable: isReadable)) }
        }
      }
    }
    // Repaired names come last, so that they do not hide equal ones.
    return entries.filter(\.isReadable) + entries.filter { !$0.isReadable }
  }

  /// Returns the status of a name, without opening the file.
  func status(of name: String) -> EntryStatus {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return errno == ENOENT || errno == ENAMETOOLONG ? .absent : .refused(.unreadable(errno: errno))
    }
    if status.st_mode & S_IFMT == S_IFREG { return .file(FileMetadata(status), components: [name]) }
    guard status.st_mode & S_IFMT == S_IFLNK else { return .refused(.unreadable("not a regular file")) }
    return follow(name)
  }

  private func follow(_ name: String) -> EntryStatus {
    let prefix = path == "/" ? "/" : path + "/"
    guard let resolved = realpath(prefix + name, nil) else {
      return .refused(.unreadable("a broken symbolic link: \(String(cString: strerror(errno)))"))
    }
    defer { free(resolved) }
    guard let target = String(validatingCString: resolved), target.utf8.starts(with: prefix.utf8) else {
      return .refused(.unreadable("a symbolic link that leads out of the directory", .invalid))
    }
    var status = stat()
    guard lstat(resolved, &status) == 0 else { return .refused(.unreadable(errno: errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { return .refused(.unreadable("not a regular file")) }
    let components = target.utf8.dropFirst(prefix.utf8.count).split(separator: UInt8(ascii: "/"))
    return .file(FileMetadata(status), components: components.map { String(decoding: $0, as: UTF8.self) })
  }

  /// Opens a file that `status(of:)` found. Does not follow links that replaced a component meanwhile.
  ///
  /// - Returns: a descriptor, which the caller closes, and the file's metadata
  func openFile(components: [String]) throws(StoryFailure) -> (descriptor: Int32, metadata: FileMetadata) {
    var current = descriptor
    defer { if current != descriptor { close(current) } }
    for (index, name) in components.enumerated() {
      let isLast = index == components.count - 1
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
    return (opened, FileMetadata(status))
  }
}
