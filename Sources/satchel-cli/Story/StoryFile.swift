import Satchel

/// A file that was named, or found in a directory, to be read as a story.
struct StoryFile: Sendable {
  var path: FilePath
  /// Why it cannot be read, as far as that is known before reading.
  var problem: String?
  var isStandardInput = false

  static let extensions = ["json", "twee", "tw"]

  /// The name for people; for standard input one that no editor takes for a file.
  var name: String { isStandardInput ? "<stdin>" : path.text }

  /// What the name says that the file is written in.
  var source: StorySource {
    path.hasExtension("twee") || path.hasExtension("tw") ? .twee : .automatic
  }

  /// Its text.
  ///
  /// - Throws: `StoryFinding` "unreadable"
  func bytes() throws -> [UInt8] {
    do {
      if let problem { throw SatchelError(.io, problem) }
      return try isStandardInput ? FileBytes.contents(of: STDIN_FILENO) : FileBytes.contents(of: path)
    } catch {
      throw StoryFinding(.unreadable, pointer: "", position: Self.start, message: "cannot be read: \(error)")
    }
  }

  /// The story in it.
  ///
  /// - Throws: `StoryFinding` "unreadable", "not-json" or "not-a-story"
  func story() throws -> Story {
    let bytes = try bytes()
    do {
      return try Story(bytes, source: source)
    } catch let error as SatchelError {
      let cause = error.underlying as? JSONError
      let isJSON = !error.message.hasPrefix("not JSON")
      throw StoryFinding(
        isJSON ? .notAStory : .notJSON, pointer: cause?.pointer ?? "",
        position: cause?.position ?? Self.start,
        message: (isJSON ? "not a story: " : "not JSON: ") + (cause?.reason ?? error.message))
    }
  }

  /// The story in it, for a command that is about this one file.
  ///
  /// - Throws: `SatchelError` with name, line and column
  func storyOrComplaint() throws -> Story {
    do { return try story() } catch let finding as StoryFinding {
      throw SatchelError(.invalid, finding.text(name: name))
    }
  }

  static let start = JSONPosition(offset: 0, line: 1, column: 1)
}
