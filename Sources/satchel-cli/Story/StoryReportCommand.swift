import ArgumentParser
import Satchel

/// `satchel story report`: a page about all stories of a directory.
struct StoryReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a page about a library of stories.",
    discussion: """
      One HTML file that needs no network: a table that sorts and searches (diacritics make no difference), and for \
      each story its figures, what is wrong with it and its graph. Graphs are drawn by Graphviz (apt install \
      graphviz), of the first 500 stories and of those with at most 400 segments; without Graphviz the page says so \
      in their place.

        satchel story report stories/ -o report.html
        satchel story report stories/ --no-graphs -o - | gzip > report.html.gz

      Exit codes: 0 the page is written, whatever it says of the stories; 2 could not run.
      """)

  @Argument(help: StoryHelp.paths, completion: .file(extensions: StoryFile.extensions))
  var paths: [String]

  @Option(name: [.short, .long], help: StoryHelp.output, completion: .file(extensions: ["html"]))
  var output: String

  @Option(help: "The page's title.")
  var title = "Stories"

  @Flag(inversion: .prefixedNo, help: "Draw the graph of each story.")
  var graphs = true

  /// Pictures that a browser bears in one page.
  private static let mostPictures = 500

  private struct Task: Sendable {
    var file: StoryFile
    var draws: Bool
    var note: String?
  }

  func run() throws {
    let files = try StoryFiles.find(paths)
    let isMissing = graphs && !Graphviz.isInstalled
    let reason = !graphs ? nil : isMissing ? "Not drawn: \(Graphviz.Failure.missing)." : nil
    let tasks = files.enumerated().map { index, file in
      let isEarly = index < Self.mostPictures
      let late = "Not drawn: only the first \(Self.mostPictures) stories are."
      return Task(
        file: file, draws: graphs && !isMissing && isEarly, note: reason ?? (graphs && !isEarly ? late : nil))
    }
    // Begun before the work, so that a place that cannot be written is known at once.
    let output = try Output(output)
    var stories: [ReportStory] = []
    var progress = Progress(total: files.count)
    try InOrder.each(tasks, progress: &progress) { task in
      ReportStory(task.file, draws: task.draws, note: task.note)
    } body: { story, _ in
      stories.append(story)
    }
    try ReportPage(stories: stories, title: title).write(to: output)
    try output.finish()
    if isMissing { Terminal.complain("no graphs in the page: \(Graphviz.Failure.missing)") }
  }
}
