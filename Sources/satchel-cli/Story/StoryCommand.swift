import ArgumentParser

/// `satchel story`.
struct StoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "story",
    abstract: "Branching stories, as files.",
    discussion: """
      For authors and for CI. No store is needed: the commands read files, JSON or Twee 3, and change none of them.

        satchel story lint stories/ --strict
        satchel story stats stories/
        satchel story report stories/ -o report.html
      """,
    subcommands: [
      StoryLintCommand.self, StoryStatsCommand.self, StoryGraphCommand.self, StoryDiffCommand.self,
      StoryReportCommand.self, StoryConvertCommand.self,
    ])
}
