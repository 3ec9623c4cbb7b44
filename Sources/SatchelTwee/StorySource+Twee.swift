import SatchelCore
import SatchelStories

extension StorySource {
  /// A game of Twine: Twee 3, its interchange format, or a published page.
  public static let twee = StorySource(extensions: [".twee", ".tw", ".twee2", ".tw2"]) {
    try TweeReader($0).table
  }

  /// JSON when the text starts with a brace or bracket, or when no line starts with the "::" of a passage; Twee or a
  /// page otherwise.
  public static let automatic = StorySource(extensions: []) { text in
    try (isTwee(text) ? StorySource.twee : .json).read(text)
  }

  private static func isTwee(_ text: UnsafeRawBufferPointer) -> Bool {
    let rest = text.drop { $0 <= 0x20 }
    if rest.starts(with: "::".utf8) || TwinePage.isPage(text) { return true }
    // Some tools write a note before the first passage. A story in JSON starts with a brace.
    guard let first = rest.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return false }
    return rest.indices.contains { index in
      rest[index] == UInt8(ascii: "\n") && rest[(index + 1)...].starts(with: "::".utf8)
    }
  }
}

extension Story {
  /// Parses a story as JSON or Twee 3, by its text.
  ///
  /// - Throws: `SatchelError` `.invalid`, with line, column and cause, when the text is neither
  public convenience init(_ text: [UInt8]) throws { try self.init(text, source: .automatic) }

  /// Parses a story as JSON or Twee 3, by its text, which is copied.
  public convenience init(_ text: UnsafeRawBufferPointer) throws { try self.init(text, source: .automatic) }

  /// Parses a story in several files. Its findings name the file that they are in.
  public convenience init(_ game: TweeGame) throws {
    let files = game.files
    let source = StorySource(extensions: []) { try TweeReader($0, files: files).table }
    try self.init(game.text, source: source, folder: game.folder)
  }

  /// Parses the story of a file, with those that its StoryIncludes names, or of a directory of Twee files.
  ///
  /// - Throws: `SatchelError` `.notFound`, `.io`, `.invalid`, with the path
  public convenience init(contentsOf path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SatchelError(errno: errno, path, denied: .io) }
    do {
      if status.st_mode & S_IFMT == S_IFDIR {
        try self.init(TweeGame(directory: path))
      } else {
        let (text, folder) = (try TweeGame.contents(of: path), Self.folder(of: path))
        let isTwee = StorySource.twee.isFormat(of: path)
        if isTwee, !TweeGame.includes(of: text).isEmpty {
          let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) }
          try self.init(TweeGame(including: name ?? path, directory: folder))
        } else {
          try self.init(text, source: isTwee ? .twee : .automatic, folder: folder)
        }
      }
    } catch var error as SatchelError where error.code == .invalid && !error.message.hasPrefix(path) {
      error.message = "\(path): \(error.message)"
      throw error
    }
  }
}

extension Story {
  /// Returns the path of the directory that a file is in.
  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

extension StorySource {
  /// One of the stories of an archive.
  package static func page(story: Int) -> StorySource {
    StorySource(extensions: []) { try TweeReader($0, story: story).table }
  }
}

extension StoryReport {
  /// Checks a story's text as JSON or Twee 3, by its text.
  ///
  /// - Throws: `SatchelError` `.invalid`, with line, column and cause, when the text is neither
  public static func check(_ text: some Sequence<UInt8>) throws -> StoryReport {
    try check(text, source: .automatic)
  }
}
