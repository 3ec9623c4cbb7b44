import Satchel

/// The files selected by command line arguments.
struct StoryFiles {
  private(set) var files: [StoryFile] = []
  private var seen: Set<FilePath> = []
  private let exclude: [String]

  private init(exclude: [String]) { self.exclude = exclude }

  /// Returns the given files, and the story files below given directories in byte order of their paths.
  ///
  /// - Parameter exclude: patterns of files and directories that are not read
  /// - Throws: `SatchelError` `.notFound` for a path that does not exist, and when there is no story file
  static func find(_ arguments: [String], exclude: [String] = []) throws -> [StoryFile] {
    var result = StoryFiles(exclude: exclude)
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
    throw SatchelError(.notFound, "\(paths): contains no story: no *.json, *.twee, *.tw, or page of Twine")
  }

  /// Returns the given files, and the story files, scripts, pictures and sounds below given directories.
  static func watched(_ arguments: [String], exclude: [String]) -> [FilePath] {
    arguments.flatMap { argument in
      let path = FilePath(argument: argument)
      guard kind(path, follow: true) == S_IFDIR else { return [path] }
      let ignoring = StoryIgnore(directory: path.text, patterns: exclude)
      return walk(path, ignoring, extensions: StoryFile.extensions + StoryFile.mediaExtensions + ["js"]).map(
        \.path)
    }
  }

  /// Returns the story that an argument names: a file, or a directory with one game.
  static func file(_ argument: String) throws -> StoryFile {
    if argument == "-" { return StoryFile(path: FilePath(bytes: Array("-".utf8)), isStandardInput: true) }
    let path = FilePath(argument: argument)
    guard try kind(of: path) == S_IFDIR else { return expanded(StoryFile(path: path))[0] }
    let games = stories(below: path, StoryIgnore(directory: path.text)).filter(\.isGame)
    let twee = games.filter(\.isTwee)
    if let game = twee.count == 1 ? twee.first : games.count == 1 ? games.first : nil { return game }
    throw SatchelError(
      .invalid,
      "\(argument.printable): is a directory with \(games.isEmpty ? "no game" : "several games") of Twine")
  }

  private mutating func add(_ path: FilePath) throws {
    let isDirectory = try Self.kind(of: path) == S_IFDIR
    let found =
      isDirectory
      ? Self.stories(below: path, StoryIgnore(directory: path.text, patterns: exclude))
      : Self.expanded(StoryFile(path: path))
    for file in found where file.number ?? 0 > 0 || seen.insert(file.path.tidy).inserted {
      files.append(file)
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

  /// Returns the stories in the files below a directory.
  private static func stories(below directory: FilePath, _ ignoring: StoryIgnore) -> [StoryFile] {
    let files = walk(directory, ignoring).map { file in
      var file = file
      file.isFound = true
      return file
    }
    var marks: [FilePath: TweeGame.Mark] = [:]
    for file in files where file.isTwee && file.problem == nil {
      marks[file.path] = (try? file.bytes()).map(TweeGame.mark)
    }
    // An included file starts no story of its own.
    for file in files where marks[file.path] == .includes {
      for name in TweeGame.includes(of: (try? file.bytes()) ?? []) {
        marks[file.path.directory.appending(Array(name.utf8))] = TweeGame.Mark.none
      }
    }
    let games = marks.count < 2 ? files : group(files, below: directory, marks, ignoring)
    return games.flatMap(expanded)
  }

  /// Returns the stories of an archive, none for a page that has none and was found, and the game of a file that
  /// includes others.
  private static func expanded(_ file: StoryFile) -> [StoryFile] {
    guard file.problem == nil, file.game == nil, file.isGame, let bytes = try? file.bytes() else {
      return [file]
    }
    if file.isTwee {
      guard !TweeGame.includes(of: bytes).isEmpty else { return [file] }
      let name = String(
        decoding: file.path.tidy.bytes.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
      return [StoryFile(path: file.path.directory, game: .including(name))]
    }
    let count = TweeGame.storyCount(ofPage: bytes)
    if count == 0, file.isFound { return [] }
    if count < 2 { return [file] }
    return (0..<count).map { number in
      var file = file
      file.number = number
      return file
    }
  }

  /// Joins the Twee files that form one story: those below a directory with one file that starts a story.
  ///
  /// The clearest mark of a start counts: StoryData, else StoryIncludes, else a passage Start.
  private static func group(
    _ files: [StoryFile], below directory: FilePath, _ marks: [FilePath: TweeGame.Mark],
    _ ignoring: StoryIgnore
  ) -> [StoryFile] {
    let twee = files.filter { $0.isTwee && $0.problem == nil }
    if twee.count < 2 { return files }
    let clearest = twee.map { marks[$0.path]?.rawValue ?? 0 }.max() ?? 0
    let starts = twee.count { marks[$0.path]?.rawValue == clearest }
    if clearest == 0 || starts == 1 {
      let others = files.filter { !$0.isTwee || $0.problem != nil }
      return ([StoryFile(path: directory, game: .directory(ignoring))] + others).sorted(by: precedes)
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
    for (directory, files) in below { result += group(files, below: directory, marks, ignoring) }
    return result.sorted(by: precedes)
  }

  private static func precedes(_ one: StoryFile, _ other: StoryFile) -> Bool {
    one.path.bytes.lexicographicallyPrecedes(other.path.bytes)
  }

  /// Returns the story files below a directory; skips hidden names, links to directories, and what is ignored.
  private static func walk(
    _ root: FilePath, _ ignoring: StoryIgnore, extensions: [String] = StoryFile.extensions
  ) -> [StoryFile] {
    let depth = root.appending([]).bytes.count
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
        let relative = String(
          decoding: path.bytes.dropFirst(root.bytes == Array(".".utf8) ? 0 : depth), as: UTF8.self)
        if ignoring.ignores(relative, isDirectory: kind == S_IFDIR) { continue }
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
