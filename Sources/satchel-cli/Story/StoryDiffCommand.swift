import ArgumentParser
import Satchel

/// `satchel story diff`: compares two versions of a story.
struct StoryDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two versions of a story: does a saved reading position break?",
    discussion: """
      A reading position is the id of the reader's current segment. It breaks when the new version does not \
      have the segment, cannot reach it from the start, or cannot reach an ending from it. All other \
      differences (texts, new segments, changed targets of choices) are listed, but break nothing.

        satchel story diff released/tale.json tale.json
        git show HEAD:tale.json | satchel story diff - tale.json

      Exit codes: 0 the versions are the same, or no reading position breaks; 1 at least one breaks; \
      2 could not run.
      """)

  @Argument(help: "The version that readers have.", completion: .file(extensions: StoryFile.extensions))
  var old: String

  @Argument(help: "The new version.", completion: .file(extensions: StoryFile.extensions))
  var new: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func validate() throws {
    if old == "-", new == "-" { throw ValidationError("only one of the versions can be the standard input") }
  }

  func run() throws {
    let (oldFile, newFile) = (try StoryFiles.file(old), try StoryFiles.file(new))
    let diff = try oldFile.requiredStory().changes(to: newFile.requiredStory())
    let output = try Output()
    if json {
      try output.put(diff.json.text + "\n")
    } else if diff.isSame {
      try output.put("no differences\n")
    } else {
      for line in Self.lines(diff) { try output.put(line.printable + "\n") }
    }
    try output.finish()
    if !diff.broken.isEmpty { throw Terminal.attention }
  }

  private static func lines(_ diff: StoryDiff) -> [String] {
    var lines = diff.broken.map { position in
      let suggestion = position.suggestion.map { "; readers could continue at \"\($0)\"" } ?? ""
      return "breaks: \"\(position.segment)\" \(text(of: position.reason))\(suggestion)"
    }
    if let start = diff.start { lines.append("start: \(quoted(start.from)) is now \(quoted(start.to))") }
    lines += diff.moved.map {
      "moved: \(quoted($0.segment)), choice \"\($0.choice)\": \"\($0.from)\" is now \"\($0.to)\""
    }
    lines += diff.removedSegments.map { "removed: segment \"\($0)\"" }
    lines += diff.addedSegments.map { "added: segment \"\($0)\"" }
    lines += diff.removedChoices.map { "removed: \"\($0.segment)\", choice \"\($0.choice)\"" }
    lines += diff.addedChoices.map { "added: \"\($0.segment)\", choice \"\($0.choice)\"" }
    lines += diff.changedTexts.map { "text: \"\($0)\"" }
    lines += diff.changedFields.map { "field: \($0)" }
    return lines
  }

  private static func text(of reason: StoryDiff.BrokenPosition.Reason) -> String {
    switch reason {
    case .removed: "was removed"
    case .unreachable: "can no longer be reached"
    case .trap: "no longer leads to an ending"
    }
  }

  private static func quoted(_ id: String?) -> String { id.map { "\"\($0)\"" } ?? "none" }
}
