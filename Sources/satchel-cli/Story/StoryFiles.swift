import Satchel

/// The files that a command line means.
struct StoryFiles {
  private(set) var files: [StoryFile] = []
  private var seen: Set<FilePath> = []

  /// Finds the files: those named, and in directories those below them, in byte order of their paths.
  ///
  /// - Throws: `SatchelError` `.notFound` for a name that is none, or when there is nothing to read
  static func find(_ arguments: [String]) throws -> [StoryFile] {
    var result = StoryFiles()
    for argument in arguments {
      if argument == "-" {
        let path = FilePath(bytes: Array("-".utf8))
        if result.seen.insert(path).inserted {
          result.files.append(StoryFile(path: path, isStandardInput: true))
        }
      } else {
        try result.add(FilePath(argument: argument))
      }
    }
    guard result.files.isEmpty else { return result.files }
    let places = arguments.map(\.printable).joined(separator: ", ")
    throw SatchelError(.notFound, "\(places): holds no *.json, *.twee or *.tw")
  }

  /// The one file that an argument names.
  static func file(_ argument: String) throws -> StoryFile {
    if argument == "-" { return StoryFile(path: FilePath(bytes: Array("-".utf8)), isStandardInput: true) }
    let path = FilePath(argument: argument)
    if try kind(of: path) == S_IFDIR { throw SatchelError(.invalid, "\(argument.printable): is a directory") }
    return StoryFile(path: path)
  }

  private mutating func add(_ path: FilePath) throws {
    if try Self.kind(of: path) == S_IFDIR {
      for file in Self.walk(path) where seen.insert(file.path.tidy).inserted { files.append(file) }
    } else if seen.insert(path.tidy).inserted {
      files.append(StoryFile(path: path))
    }
  }

  private static func kind(of path: FilePath) throws -> mode_t {
    guard let kind = kind(path, follow: true) else {
      let reason = errno == ENOENT ? "does not exist" : FileBytes.reason(errno)
      throw SatchelError(.notFound, "\(path.text.printable): \(reason)")
    }
    return kind
  }

  private static func kind(_ path: FilePath, follow: Bool) -> mode_t? {
    var facts = stat()
    guard path.withCString({ follow ? stat($0, &facts) : lstat($0, &facts) }) == 0 else { return nil }
    return facts.st_mode & S_IFMT
  }

  /// Stories below a directory; links to directories are not followed, and what is hidden is left out.
  private static func walk(_ root: FilePath) -> [StoryFile] {
    var files: [StoryFile] = []
    var directories = [root]
    while let directory = directories.popLast() {
      guard let stream = directory.withCString({ opendir($0) }) else {
        files.append(StoryFile(path: directory, problem: FileBytes.reason(errno)))
        continue
      }
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let name = name(of: entry)
        guard name.first != UInt8(ascii: ".") else { continue }
        let path = directory.appending(name)
        var kind = mode_t(entry.pointee.d_type) << 12
        // Some file systems do not tell.
        if kind == 0 { kind = self.kind(path, follow: false) ?? 0 }
        if kind == S_IFDIR {
          directories.append(path)
        } else if StoryFile.extensions.contains(where: { path.hasExtension($0) }) {
          if let file = found(path, kind) { files.append(file) }
        }
      }
    }
    return files.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
  }

  private static func found(_ path: FilePath, _ kind: mode_t) -> StoryFile? {
    let target = kind == S_IFLNK ? self.kind(path, follow: true) : kind
    switch target {
    case S_IFREG: return StoryFile(path: path)
    case S_IFDIR: return nil
    case nil: return StoryFile(path: path, problem: "the link leads nowhere")
    // Reading a pipe or a device might never end.
    default: return StoryFile(path: path, problem: "not a regular file")
    }
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
  }
}
