import ArgumentParser
import Satchel

/// `satchel story diff`: what differs between two versions of a story.
struct StoryDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two versions of a story: does a saved reading position break?",
    discussion: """
      A reading position is the id of the segment that its reader is at. It breaks when the segment is gone, when \
      nobody comes to it any more, or when no ending can be reached from it any more. Everything else that differs \
      (texts, new segments, choices that lead elsewhere) is told, but breaks nothing.

        satchel story diff released/tale.json tale.json
        git show HEAD:tale.json | satchel story diff - tale.json

      Exit codes: 0 the versions are the same, or no reading position breaks; 1 at least one breaks; \
      2 could not run.
      """)

  @Argument(help: "The version that readers have.", completion: .file(extensions: StoryFile.extensions))
  var old: String

  @Argument(help: "The version that they will get.", completion: .file(extensions: StoryFile.extensions))
  var new: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func validate() throws {
    if old == "-", new == "-" { throw ValidationError("only one of both can be the standard input") }
  }

  func run() throws {
    let (oldFile, newFile) = (try StoryFiles.file(old), try StoryFiles.file(new))
    let diff = try oldFile.storyOrComplaint().changes(to: newFile.storyOrComplaint())
    let output = try Output()
    if json {
      try output.put(diff.json.text + "\n")
    } else if diff.isSame {
      try output.put("nothing differs\n")
    } else {
      for line in Self.lines(diff) { try output.put(line.printable + "\n") }
    }
    try output.finish()
    if !diff.broken.isEmpty { throw Terminal.attention }
  }

  private static func lines(_ diff: StoryDiff) -> [String] {
    var lines = diff.broken.map { position in
      let heir = position.suggestion.map { "; its readers could go on at \"\($0)\"" } ?? ""
      return "breaks: \"\(position.segment)\" \(words(position.reason))\(heir)"
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

  private static func words(_ reason: StoryDiff.BrokenPosition.Reason) -> String {
    switch reason {
    case .removed: "is gone"
    case .unreachable: "cannot be reached any more"
    case .trap: "leads to no ending any more"
    }
  }

  private static func quoted(_ id: String?) -> String { id.map { "\"\($0)\"" } ?? "none" }
}
