import Satchel

/// What there is to say of one file.
struct LintedFile: Sendable {
  let file: StoryFile
  /// The story's own id, where it has one.
  var id: String?
  var findings: [StoryFinding]

  init(_ file: StoryFile, ignoring ignored: Set<StoryFinding.Code> = []) {
    self.file = file
    do {
      let story = try file.story()
      id = story.header.id
      findings = story.check().findings
    } catch {
      findings = [error as? StoryFinding ?? Self.unforeseen(error)]
    }
    if !ignored.isEmpty { findings.removeAll { ignored.contains($0.code) } }
  }

  var errors: Int { findings.reduce(0) { $0 + ($1.severity == .error ? 1 : 0) } }
  var warnings: Int { findings.count - errors }

  /// Adds a finding at its place among those of the file.
  mutating func add(_ finding: StoryFinding) {
    let next = findings.firstIndex { $0.position.offset > finding.position.offset }
    findings.insert(finding, at: next ?? findings.count)
  }

  private static func unforeseen(_ error: any Error) -> StoryFinding {
    StoryFinding(.unreadable, pointer: "", position: StoryFile.start, message: "\(error)")
  }
}
