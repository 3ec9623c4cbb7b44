import ArgumentParser
import Satchel

/// `satchel story report`: writes an HTML page about a library of stories.
struct StoryReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write an HTML page about a library of stories.",
    discussion: """
      Writes one HTML file without external resources: a table that can be sorted and searched (ignoring \
      diacritics), and for each story its statistics, findings and graph. Graphs are drawn by Graphviz (apt \
      install graphviz) for the first 500 stories, if they have at most 400 segments; without Graphviz the \
      page has a note instead.

        satchel story report stories/ -o report.html
        satchel story report stories/ --no-graphs -o - | gzip > report.html.gz

      Exit codes: 0 written, even if stories have errors; 2 could not run.
      """)

  @Argument(help: StoryHelp.paths, completion: .file(extensions: StoryFile.extensions))
  var paths: [String]

  @Option(help: StoryHelp.exclude)
  var exclude: [String] = []

  @Option(name: [.short, .long], help: StoryHelp.output, completion: .file(extensions: ["html"]))
  var output: String

  @Option(help: "The page's title.")
  var title = "Stories"

  @Flag(inversion: .prefixedNo, help: "Draw the graph of each story.")
  var graphs = true

  /// The maximum number of pictures that a browser handles in one page.
  private static let maxPictures = 500

  private struct Task: Sendable {
    var file: StoryFile
    var draws: Bool
    var note: String?
  }

  func run() throws {
    let files = try StoryFiles.find(paths, exclude: exclude)
    let isGraphvizMissing = graphs && !Graphviz.isInstalled
    let reason = !graphs ? nil : isGraphvizMissing ? "Not drawn: \(Graphviz.Failure.missing)." : nil
    let tasks = files.enumerated().map { index, file in
      let isWithinLimit = index < Self.maxPictures
      let limitNote = "Not drawn: only the first \(Self.maxPictures) stories are."
      return Task(
        file: file, draws: graphs && !isGraphvizMissing && isWithinLimit,
        note: reason ?? (graphs && !isWithinLimit ? limitNote : nil))
    }
    // Opened before the work, so that an output that cannot be written is an error at once.
    let output = try Output(output)
    var stories: [ReportStory] = []
    var progress = Progress(total: files.count)
    try ParallelMap.forEach(tasks, progress: &progress) { task in
      ReportStory(task.file, draws: task.draws, note: task.note)
    } body: { story, _ in
      if let story { stories.append(story) }
    }
    try StoryReportPage(stories: stories, title: title).write(to: output)
    try output.finish()
    if isGraphvizMissing { Terminal.printError("the page has no graphs: \(Graphviz.Failure.missing)") }
  }
}
