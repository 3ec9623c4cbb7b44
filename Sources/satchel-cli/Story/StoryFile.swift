import Satchel

/// A story file that was given on the command line or found in a directory.
struct StoryFile: Sendable {
  var path: FilePath
  /// The reason why the file cannot be read, if it is known before reading.
  var problem: String?
  var isStandardInput = false
  /// Whether the path is a directory of Twee files that form one story.
  var isGame = false

  static let extensions = ["json", "twee", "tw"]
  /// Those of pictures, sounds and films, which stories name.
  static let mediaExtensions = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "mp3", "ogg", "oga", "opus", "m4a", "wav", "flac",
    "mp4", "webm",
  ]

  /// The name for messages; the standard input has a name that editors do not open as a file.
  var name: String { isStandardInput ? "<stdin>" : path.text }

  /// The format by the file name's extension.
  var source: StorySource {
    isTwee ? .twee : .automatic
  }

  var isTwee: Bool { isGame || path.hasExtension("twee") || path.hasExtension("tw") }

  /// Reads the file.
  ///
  /// - Throws: `StoryFinding` "unreadable"
  func bytes() throws -> [UInt8] {
    do {
      if let problem { throw SatchelError(.io, problem) }
      if isGame { return try TweeGame(directory: path.text).text }
      return try isStandardInput ? FileBytes.contents(of: STDIN_FILENO) : FileBytes.contents(of: path)
    } catch {
      throw StoryFinding(.unreadable, pointer: "", position: Self.start, message: "cannot be read: \(error)")
    }
  }

  /// Reads and parses the file.
  ///
  /// - Throws: `StoryFinding` "unreadable", "not-json" or "not-a-story"
  func story() throws -> Story {
    do {
      if isGame { return try Story(TweeGame(directory: path.text)) }
      return try Story(bytes(), source: source, folder: isStandardInput ? nil : path.directory.text)
    } catch let error as SatchelError {
      let cause = error.underlying as? JSONError
      let isJSON = StoryReader.isJSON(error)
      throw StoryFinding(
        isJSON ? .notAStory : .notJSON, pointer: cause?.pointer ?? "",
        position: cause?.position ?? Self.start,
        message: (isJSON ? "not a story: " : "not JSON: ") + (cause?.reason ?? error.message))
    }
  }

  /// Reads and parses the file for a command that needs this one story.
  ///
  /// - Throws: `SatchelError` with name, line and column
  func requiredStory() throws -> Story {
    do { return try story() } catch let finding as StoryFinding {
      throw SatchelError(.invalid, finding.text(name: name))
    }
  }

  static let start = JSONPosition(offset: 0, line: 1, column: 1)
}

/// The files selected by command line arguments.
struct StoryFiles {
  private(set) var files: [StoryFile] = []
  private var seen: Set<FilePath> = []

  /// Returns the given files, and the story files below given directories in byte order of their paths.
  ///
  /// - Throws: `SatchelError` `.notFound` for a path that does not exist, and when there is no story file
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
    let paths = arguments.map(\.printable).joined(separator: ", ")
    throw SatchelError(.notFound, "\(paths): contains no *.json, *.twee or *.tw")
  }

  /// Returns the given files, and the story files, scripts, pictures and sounds below given directories.
  static func watched(_ arguments: [String]) -> [FilePath] {
    arguments.flatMap { argument in
      let path = FilePath(argument: argument)
      guard kind(path, follow: true) == S_IFDIR else { return [path] }
      return walk(path, extensions: StoryFile.extensions + StoryFile.mediaExtensions + ["js"]).map(\.path)
    }
  }

  /// Returns the file that an argument names.
  static func file(_ argument: String) throws -> StoryFile {
    if argument == "-" { return StoryFile(path: FilePath(bytes: Array("-".utf8)), isStandardInput: true) }
    let path = FilePath(argument: argument)
    guard try kind(of: path) == S_IFDIR else { return StoryFile(path: path) }
    if let game = stories(in: walk(path), path).first, game.isGame, game.path == path { return game }
    throw SatchelError(
      .invalid, "\(argument.printable): is a directory, and not one of Twee files with one StoryData")
  }

  private mutating func add(_ path: FilePath) throws {
    if try Self.kind(of: path) == S_IFDIR {
      for file in Self.stories(in: Self.walk(path), path) where seen.insert(file.path.tidy).inserted {
        files.append(file)
      }
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
    var status = stat()
    guard path.withCString({ follow ? stat($0, &status) : lstat($0, &status) }) == 0 else { return nil }
    return status.st_mode & S_IFMT
  }

  /// Returns files with each group of Twee files that form one story as one: those below a directory with one
  /// StoryData.
  private static func stories(in files: [StoryFile], _ directory: FilePath) -> [StoryFile] {
    let twee = files.filter { $0.isTwee && $0.problem == nil }
    let data = Set(twee.filter { (try? $0.bytes()).map(TweeGame.hasStoryData) ?? false }.map(\.path))
    return twee.count < 2 || data.isEmpty ? files : group(files, below: directory, data)
  }

  private static func group(_ files: [StoryFile], below directory: FilePath, _ data: Set<FilePath>)
    -> [StoryFile]
  {
    let twee = files.filter { $0.isTwee && $0.problem == nil }
    let count = twee.count { data.contains($0.path) }
    if twee.count < 2 || count == 0 { return files }
    if count == 1 {
      let others = files.filter { !$0.isTwee || $0.problem != nil }
      return ([StoryFile(path: directory, isGame: true)] + others).sorted(by: precedes)
    }
    var result: [StoryFile] = []
    var below: [FilePath: [StoryFile]] = [:]
    let depth = directory.appending([]).bytes.count
    for file in files {
      let rest = file.path.bytes.dropFirst(depth)
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else {
        result.append(file)
        continue
      }
      below[FilePath(bytes: Array(file.path.bytes[..<slash])), default: []].append(file)
    }
    for (directory, files) in below { result += group(files, below: directory, data) }
    return result.sorted(by: precedes)
  }

  private static func precedes(_ one: StoryFile, _ other: StoryFile) -> Bool {
    one.path.bytes.lexicographicallyPrecedes(other.path.bytes)
  }

  /// Returns the story files below a directory; skips hidden names and links to directories.
  private static func walk(_ root: FilePath, extensions: [String] = StoryFile.extensions) -> [StoryFile] {
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
        // Some file systems do not report the type.
        if kind == 0 { kind = self.kind(path, follow: false) ?? 0 }
        if kind == S_IFDIR {
          directories.append(path)
        } else if extensions.contains(where: { path.hasExtension($0) }) {
          if let file = found(path, kind) { files.append(file) }
        }
      }
    }
    return files.sorted(by: precedes)
  }

  private static func found(_ path: FilePath, _ kind: mode_t) -> StoryFile? {
    let target = kind == S_IFLNK ? self.kind(path, follow: true) : kind
    switch target {
    case S_IFREG: return StoryFile(path: path)
    case S_IFDIR: return nil
    case nil: return StoryFile(path: path, problem: "broken link")
    // Not read, since reading a pipe or a device might never end.
    default: return StoryFile(path: path, problem: "not a regular file")
    }
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
  }
}
