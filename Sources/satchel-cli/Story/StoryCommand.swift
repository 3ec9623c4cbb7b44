import ArgumentParser

/// `satchel story`.
struct StoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "story",
    abstract: "Check, compare, draw and convert branching stories, and show what readers have read.",
    discussion: """
      The commands read stories as JSON or Twee 3 files and never change them. Only "progress" needs a store.

        satchel story lint stories/ --strict
        satchel story stats stories/
        satchel story report stories/ -o report.html
      """,
    subcommands: [
      StoryLintCommand.self, StoryStatsCommand.self, StoryGraphCommand.self, StoryDiffCommand.self,
      StoryReportCommand.self, StoryConvertCommand.self, StoryProgressCommand.self,
    ])
}

/// The help for arguments of several commands.
enum StoryHelp {
  static let paths = ArgumentHelp(
    "Files, directories, or - for the standard input.", valueName: "path")
  static let file = ArgumentHelp("A story as JSON or Twee 3, or - for the standard input.", valueName: "file")
  static let output = ArgumentHelp(
    "Write to this file, which is replaced atomically; - is the standard output.", valueName: "file")
}
