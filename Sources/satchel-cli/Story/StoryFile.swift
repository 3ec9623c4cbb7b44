import Satchel

/// A story file that was given on the command line or found in a directory.
struct StoryFile: Sendable {
  var path: FilePath
  /// The reason why the file cannot be read, if it is known before reading.
  var problem: String?
  var isStandardInput = false
  /// How the Twee files in the directory of the path are one story; nil for a path that is a file.
  var game: Game?
  /// The number of the story in an archive of several.
  var number: Int?
  /// Whether it was found in a directory: it need not be a story.
  var isFound = false

  enum Game: Sendable {
    /// All files below the directory.
    case directory(StoryIgnore)
    /// A file, and those that its StoryIncludes names.
    case including(String)

    func joined(in directory: FilePath) throws -> TweeGame {
      switch self {
      case .directory(let ignoring): try TweeGame(directory: directory.text, ignoring: ignoring)
      case .including(let name): try TweeGame(including: name, directory: directory.text)
      }
    }
  }

  /// A file that was found in a directory is no story.
  struct NoStory: Error {}

  static let tweeExtensions = ["twee", "tw", "twee2", "tw2"]
  static let pageExtensions = ["html", "htm"]
  static let extensions = ["json"] + tweeExtensions + pageExtensions
  /// Those of pictures, sounds and films, which stories name.
  static let mediaExtensions = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "mp3", "ogg", "oga", "opus", "m4a", "wav", "flac",
    "mp4", "webm",
  ]

  /// The name for messages; the standard input has a name that editors do not open as a file.
  var name: String { isStandardInput ? "<stdin>" : path.text }

  var isTwee: Bool { game != nil || Self.tweeExtensions.contains { path.hasExtension($0) } }
  var isPage: Bool { game == nil && Self.pageExtensions.contains { path.hasExtension($0) } }
  /// Whether it is a game of Twine, in any form.
  var isGame: Bool { isTwee || isPage }

  /// The format by the file name's extension.
  private var source: StorySource { number.map { .page(story: $0) } ?? (isTwee ? .twee : .automatic) }

  /// Reads the file.
  ///
  /// - Throws: `StoryFinding` "unreadable"
  func bytes() throws -> [UInt8] {
    do {
      if let problem { throw SatchelError(.io, problem) }
      if let game { return try game.joined(in: path).text }
      return try isStandardInput ? FileBytes.contents(of: STDIN_FILENO) : FileBytes.contents(of: path)
    } catch {
      throw StoryFinding(.unreadable, pointer: "", position: Self.start, message: "cannot be read: \(error)")
    }
  }

  /// Reads and parses the file.
  ///
  /// - Throws: `StoryFinding` "unreadable", "not-json" or "not-a-story"; `NoStory`
  func story() throws -> Story {
    let bytes = game == nil ? try bytes() : []
    do {
      if let game { return try Story(game.joined(in: path)) }
      let story = try Story(bytes, source: source, folder: isStandardInput ? nil : path.directory.text)
      if isFound, !isGame, !story.hasSegmentsMember { throw NoStory() }
      return story
    } catch let error as SatchelError {
      let cause = error.underlying as? JSONError
      let isJSON = StoryReader.isJSON(error)
      // Stories have no comments, as files of settings have.
      let offset = cause?.position?.offset ?? bytes.count
      let isCommented = offset < bytes.count && bytes[offset] == UInt8(ascii: "/")
      if isFound, !isGame, isJSON || isCommented { throw NoStory() }
      throw StoryFinding(
        isJSON ? .notAStory : .notJSON, pointer: cause?.pointer ?? "",
        position: cause?.position ?? Self.start,
        message: (isJSON ? "not a story: " : "not JSON: ") + (cause?.reason ?? error.message))
    }
  }

  /// Reads a game and converts it to a story.
  func converted(id: String?) throws -> JSONValue {
    if let game { return try Twee.story(game.joined(in: path), id: id) }
    return try Twee.story(ofArchive: bytes(), number: number ?? 0, id: id)
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
