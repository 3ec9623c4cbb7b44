import ArgumentParser

/// `satchel story`.
struct StoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "story",
    abstract: "Check, compare, draw and convert branching stories, and show what readers have read.",
    discussion: """
      The commands read stories as JSON, and games of Twine as Twee 3 and as pages, and never change them. Only \
      "progress" needs a store.

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
  static let file = ArgumentHelp(
    "A story as JSON, Twee 3 or a page of Twine, a directory with one game, or - for the standard input.",
    valueName: "file")
  static let exclude = ArgumentHelp(
    "Do not read files and directories that this names, such as dist/ or *.min.html; repeatable.",
    valueName: "pattern")
  static let output = ArgumentHelp(
    "Write to this file, which is replaced atomically; - is the standard output.", valueName: "file")
}
