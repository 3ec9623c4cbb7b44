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

  /// A file with the extension of a story, or a folder that cannot be read.
  struct Entry {
    /// Its path in the directory, with "/" between names.
    var name: String
    /// The reason why it cannot be opened.
    var failure: StoryFailure?
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

  /// Returns the folder of a file.
  func folder(of file: String) -> String {
    file.lastIndex(of: "/").map { "\(path)/\(file[..<$0])" } ?? path
  }

  /// Returns the story files of the directory and of the folders below it, unordered. Names that are not UTF-8 are
  /// repaired, and may then be equal.
  func entries() throws -> [Entry] {
    var entries: [Entry] = []
    var folders = [""]
    while let folder = folders.popLast() {
      do {
        try list(folder, &entries, &folders)
      } catch let error as SatchelError where !folder.isEmpty {
        // A bad folder hides no other one.
        entries.append(Entry(name: String(folder.dropLast()), failure: .unreadable(error.message)))
      }
    }
    // Repaired names come last, so that they do not hide equal ones.
    return entries.filter { $0.failure == nil } + entries.filter { $0.failure != nil }
  }

  /// Appends the files and folders of a folder.
  private func list(_ folder: String, _ entries: inout [Entry], _ folders: inout [String]) throws {
    let opened = openFolder(Self.components(folder)[...])
    let copy = opened < 0 ? -1 : openat(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let code = errno
    if opened >= 0, opened != descriptor { close(opened) }
    // One that was removed or replaced since its name was read is not listed.
    if copy < 0, !folder.isEmpty, code == ENOENT || code == ENOTDIR || code == ELOOP { return }
    guard copy >= 0, let stream = fdopendir(copy) else {
      if copy >= 0 { close(copy) }
      throw SatchelError(errno: code, path, denied: .io)
    }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SatchelError(errno: errno, path, denied: .io) }
        break
      }
      let mayBeFolder = [UInt8(DT_DIR), UInt8(DT_UNKNOWN)].contains(entry.pointee.d_type)
      withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { name in
          let isReadable = String(validatingCString: name) != nil
          let text = String(cString: name)
          if source(of: text) != nil {
            let failure = isReadable ? nil : StoryFailure.unreadable("its name is not UTF-8")
            entries.append(Entry(name: folder + text, failure: failure))
          } else if mayBeFolder, isReadable, !text.hasPrefix("."), text != "node_modules" {
            folders.append("\(folder)\(text)/")
          }
        }
      }
    }
  }

  private static func components(_ name: String) -> [String] {
    name.utf8.contains(UInt8(ascii: "/"))
      ? name.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
      : name.isEmpty ? [] : [name]
  }

  /// Opens a folder in the directory, one name at a time, without following links.
  ///
  /// - Returns: `descriptor` for no names; otherwise a descriptor that the caller closes, or -1 with `errno`
  private func openFolder(_ components: ArraySlice<String>) -> Int32 {
    var current = descriptor
    for name in components {
      let next = openat(current, name, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC)
      let code = errno
      if current != descriptor { close(current) }
      errno = code
      guard next >= 0 else { return -1 }
      current = next
    }
    return current
  }

  /// Returns the status of a file, without opening it.
  func status(of name: String) -> EntryStatus {
    let components = Self.components(name)
    // The name may be that of an index that cannot be trusted.
    guard let last = components.last, !components.contains(where: { $0 == ".." || $0 == "." }) else {
      return .refused(.unreadable("a path that leads out of the directory", .invalid))
    }
    let folder = openFolder(components.dropLast())
    defer { if folder >= 0, folder != descriptor { close(folder) } }
    var status = stat()
    guard folder >= 0, fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      let isAbsent = [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(errno)
      return isAbsent ? .absent : .refused(.unreadable(errno: errno))
    }
    if status.st_mode & S_IFMT == S_IFREG { return .file(FileMetadata(status), components: components) }
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
    let folder = openFolder(components.dropLast())
    defer { if folder >= 0, folder != descriptor { close(folder) } }
    guard folder >= 0, let name = components.last else { throw .unreadable(errno: errno) }
    let opened = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard opened >= 0 else { throw .unreadable(errno: errno) }
    var status = stat()
    guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(opened)
      throw .unreadable("not a regular file")
    }
    return (opened, FileMetadata(status))
  }
}
