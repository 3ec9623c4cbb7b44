import ArgumentParser
import Satchel

/// `satchel story stats`: shows statistics of stories.
struct StoryStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show statistics of stories: segments, words, reading time, paths.",
    discussion: """
      Arguments are those of "lint". Minutes are the reading times of a shortest path and of all reachable \
      segments, at 200 words a minute. Shortest and longest are the numbers of segments of a shortest and a \
      longest path. Paths is the number of different paths from the start to an ending, "unbounded" if a \
      path contains a cycle.

        satchel story stats stories/
        satchel story stats tale.json --json

      The table shows exact numbers of paths up to 20 digits. "paths" in JSON is always exact, except for \
      stories with more than 100,000 segments whose number exceeds 64 bits.

      Exit codes: 0 shown; 1 some files could not be read, with one line for each on the standard error; 2 \
      could not run.
      """)

  @Argument(help: StoryHelp.paths, completion: .file(extensions: StoryFile.extensions))
  var paths: [String]

  @Option(help: StoryHelp.exclude)
  var exclude: [String] = []

  @Flag(help: "Print JSON, on one line.")
  var json = false

  private struct Row: Sendable {
    var file: StoryFile
    var cells: [String] = []
    var json: JSONObject = [:]
    var finding: StoryFinding?
  }

  private static let heading = [
    "segments", "choices", "endings", "words", "minutes", "shortest", "longest", "paths", "title",
  ]

  func run() throws {
    let files = try StoryFiles.find(paths, exclude: exclude)
    var rows: [Row] = []
    var progress = Progress(total: files.count)
    try ParallelMap.forEach(files, progress: &progress, work: Self.row) { row, _ in
      if let row { rows.append(row) }
    }
    let output = try Output()
    let read = rows.filter { $0.finding == nil }
    let failed = rows.compactMap { row in row.finding.map { (row.file, $0) } }
    if json {
      let unreadable = failed.map { file, finding -> JSONValue in
        var members = finding.json.objectValue ?? JSONObject()
        members["file"] = .string(file.name)
        return .object(members)
      }
      let json: JSONValue = [
        "files": .array(read.map { .object($0.json) }), "unreadable": .array(unreadable),
      ]
      try output.put(json.text + "\n")
    } else {
      if !read.isEmpty { try output.put(Terminal.numericTable([Self.heading] + read.map(\.cells)) + "\n") }
      for (file, finding) in failed { Terminal.printError(finding.text(name: file.name)) }
    }
    try output.finish()
    if !failed.isEmpty { throw Terminal.attention }
  }

  @Sendable private static func row(_ file: StoryFile) -> Row? {
    do {
      let story = try file.story()
      let (header, facts) = (story.header, story.statistics)
      let paths = PathText(story, facts)
      let title = header.title ?? header.id ?? file.name
      let minutes = "\(PathText.minutes(facts.shortestMinutes))–\(PathText.minutes(facts.longestMinutes))"
      let cells = [
        "\(facts.segments)", "\(facts.choices)", "\(facts.endings)", "\(facts.words)", minutes,
        facts.shortestPath.map { "\($0)" } ?? "–", facts.longestPath.map { "\($0)" } ?? "–", paths.text,
        title.printable,
      ]
      func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
      var json: JSONObject = ["file": .string(file.name), "id": text(header.id), "title": text(header.title)]
      for (key, value) in facts.json.objectValue ?? JSONObject() { json[key] = value }
      json["paths"] = text(paths.digits)
      return Row(file: file, cells: cells, json: json)
    } catch is StoryFile.NoStory {
      return nil
    } catch {
      let finding = error as? StoryFinding
      return Row(
        file: file,
        finding: finding
          ?? StoryFinding(.unreadable, pointer: "", position: StoryFile.start, message: "\(error)"))
    }
  }
}
