import Satchel

/// The findings of one file.
struct LintedFile: Sendable {
  let file: StoryFile
  /// The story's id, if it has one.
  var id: String?
  var findings: [StoryFinding]
  /// Whether it is a file in a directory that is no story.
  var isSkipped = false

  init(_ file: StoryFile, ignoring ignored: Set<StoryFinding.Code> = []) {
    self.file = file
    do {
      let story = try file.story()
      id = story.header.id
      findings = story.check().findings
    } catch is StoryFile.NoStory {
      (isSkipped, findings) = (true, [])
    } catch {
      findings = [error as? StoryFinding ?? Self.unexpected(error)]
    }
    if !ignored.isEmpty { findings.removeAll { ignored.contains($0.code) } }
  }

  var errors: Int { findings.reduce(0) { $0 + ($1.severity == .error ? 1 : 0) } }
  var warnings: Int { findings.count - errors }

  /// Inserts a finding in the order of positions.
  mutating func add(_ finding: StoryFinding) {
    let next = findings.firstIndex { $0.position.offset > finding.position.offset }
    findings.insert(finding, at: next ?? findings.count)
  }

  private static func unexpected(_ error: any Error) -> StoryFinding {
    StoryFinding(.unreadable, pointer: "", position: StoryFile.start, message: "\(error)")
  }
}

/// Finds stories with the same id in one directory, of which an app can load only one.
struct DuplicateStories {
  private struct Key: Hashable {
    var directory: FilePath
    /// Bytes, since ids that are equal by Unicode equivalence are different.
    var id: [UInt8]
  }

  private var names: [Key: String] = [:]

  /// Adds a warning to a file whose id an earlier file of its directory has.
  mutating func check(_ linted: inout LintedFile) {
    guard let id = linted.id, !linted.file.isStandardInput else { return }
    let key = Key(directory: linted.file.path.directory, id: Array(id.utf8))
    guard let other = names[key] else {
      names[key] = linted.file.name
      return
    }
    linted.add(
      StoryFinding(
        .duplicateStory, pointer: "/id", position: Self.position(of: linted.file),
        message: "\(other) contains a story with the same id \"\(id)\""))
  }

  /// Returns the position of a story's id. Reads the file again, since duplicates are rare.
  private static func position(of file: StoryFile) -> JSONPosition {
    let bytes = (try? file.bytes()) ?? []
    return bytes.withUnsafeBytes { text in
      guard let tape = try? JSONTape(text), let id = tape.member("id", of: tape.root) else {
        return StoryFile.start
      }
      return tape.position(id)
    }
  }
}
